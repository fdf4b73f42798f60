/** The routes of a network configuration, as an Interface keeps them for the agent's next process. */
import type { RouteRequest } from '../../cni/agent-protocol.ts';

/** Undefined for none. */
export function routesText(routes: readonly RouteRequest[]): string | undefined {
  return routes.length === 0 ? undefined : JSON.stringify(routes.map(({ dst, gw }) => ({ dst, gw })));
}

/** Without what is no route: another program may have written it. Each is parsed once more where it is used. */
export function routesOfText(text: string | undefined): readonly RouteRequest[] {
  let list: unknown;
  try {
    list = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  return Array.isArray(list) ? (list as readonly unknown[]).flatMap((one) => routeRequest(one) ?? []) : [];
}

function routeRequest(value: unknown): RouteRequest | undefined {
  const { dst, gw } = (value ?? {}) as { readonly dst?: unknown; readonly gw?: unknown };
  return typeof dst === 'string' && typeof gw === 'string' ? { dst, gw } : undefined;
}
