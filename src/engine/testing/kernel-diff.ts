/** One link or route: the desired one against the observed one. Pure. */
import type { KernelOperation, Link, Route } from './fake-kernel.ts';
import type { KernelOutput, LinkOutput, NodeWorld, RouteOutput } from './node-world.ts';
import { routeKey } from './node-world.ts';

/** Marks links and routes of ours: the alias of a link, the protocol of a route. */
export const MARK = 'kiln';

export type KernelVerdict =
  | { readonly kind: 'converged' }
  | { readonly kind: 'change'; readonly operation: KernelOperation }
  | { readonly kind: 'conflict'; readonly message: string };

const CONVERGED: KernelVerdict = { kind: 'converged' };

/** @param outputs for this identity: of several one is written, the same in every process */
export function diffKernel(id: string, outputs: readonly KernelOutput[], { links, routes }: NodeWorld): KernelVerdict {
  const [desired] = outputs.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  const name = id.slice(id.indexOf('/') + 1);
  return id.startsWith('link/')
    ? diffLink(desired as LinkOutput | undefined, links.peek(name))
    : diffRoute(desired as RouteOutput | undefined, routes.peek(routeKey({ to: name, protocol: MARK })));
}

function diffLink(desired: LinkOutput | undefined, seen: Link | undefined): KernelVerdict {
  if (seen !== undefined && seen.alias !== MARK)
    return desired === undefined ? CONVERGED : { kind: 'conflict', message: `another program made the link ${seen.name}` };
  if (desired === undefined)
    return seen === undefined ? CONVERGED : { kind: 'change', operation: { do: 'delete-link', index: seen.index } };
  const { name, mtu } = desired;
  if (seen === undefined) return { kind: 'change', operation: { do: 'add-link', link: { name, mtu, up: true, alias: MARK } } };
  return seen.mtu === mtu && seen.up ? CONVERGED : { kind: 'change', operation: { do: 'set-link', index: seen.index, mtu, up: true } };
}

function diffRoute(desired: RouteOutput | undefined, seen: Route | undefined): KernelVerdict {
  if (desired === undefined)
    return seen === undefined ? CONVERGED : { kind: 'change', operation: { do: 'delete-route', to: seen.to, protocol: MARK } };
  const { to, via, dev } = desired;
  return seen?.via === via && seen.dev === dev
    ? CONVERGED
    : { kind: 'change', operation: { do: 'replace-route', route: { to, via, dev, protocol: MARK } } };
}
