/**
 * Routes as text, `[{"dst":"10.0.0.0/8","gw":"10.16.0.254"}]`: in a pod's annotation, and as an Interface keeps those of a network
 * configuration for the agent's next process.
 */
import type { RouteRequest } from '../../cni/agent-protocol.ts';

/** Undefined for none. */
export function routesText(routes: readonly RouteRequest[]): string | undefined {
  return routes.length === 0 ? undefined : JSON.stringify(routes.map(({ dst, gw }) => ({ dst, gw })));
}

/**
 * Each item of the list, undefined for one that is no route; undefined if the text is no list. Without a destination it is the default route.
 * Addresses are parsed where a route is used (`routeOf`).
 */
export function routesOfText(text: string): readonly (RouteRequest | undefined)[] | undefined {
  if (text.trim() === '') return [];
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(list) ? (list as readonly unknown[]).map(routeRequest) : undefined;
}

function routeRequest(value: unknown): RouteRequest | undefined {
  const { dst = '', gw } = (value ?? {}) as { readonly dst?: unknown; readonly gw?: unknown };
  return typeof dst === 'string' && typeof gw === 'string' ? { dst, gw } : undefined;
}
