/** What the program that answers BFD says to the agent. Pure. */
import { type BfdState, STATES } from './packet.ts';

export type BfdReport =
  | { readonly kind: 'listening' }
  /** `gone`: nothing was heard of the router for a minute. */
  | { readonly kind: 'session'; readonly peer: string; readonly state: BfdState | 'gone' };

/** @returns undefined for a line that is no report */
export function parseReport(line: string): BfdReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { kind, peer, state } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (kind === 'listening') return { kind };
  const known = [...STATES, 'gone' as const].find((one) => one === state);
  return kind === 'session' && typeof peer === 'string' && known !== undefined ? { kind, peer, state: known } : undefined;
}
