/** What is observed of the node as an external gateway. */
import type { BfdState } from '../bfd/packet.ts';

/** A network namespace that the agent made for it. */
export interface GatewayNamespace {
  /** It forwards packets; interfaces that it gets now have the right settings. */
  readonly complete: boolean;
}

/** A program that answers BFD, while it listens. */
export interface BfdResponder {
  /** By address of the router. */
  readonly sessions: Readonly<Partial<Record<string, BfdState>>>;
}

/** Where `ip netns` has a namespace. */
export function namespacePath(name: string): string {
  return `/run/netns/${name}`;
}
