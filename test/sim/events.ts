/**
 * Events: what is so and is to be told was told. A notice by whoever leads, however often that changed; the Event of a condition by the
 * process that wrote it, unless that ended before it could, or never heard that it was written. What a controller left out on purpose (too many of one object) is known.
 */
import type { StandingFact } from '../../src/controller/controller-options.ts';
import type { Finding } from './judge.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** Bytes of a message that an Event holds; a longer one is told from its beginning. */
const TOLD = 1_000;

export function factKey({ uid, reason, message }: Pick<StandingFact, 'uid' | 'reason' | 'message'>): string {
  return `${uid} ${reason} ${message.slice(0, TOLD)}`;
}

interface EventFields {
  readonly involvedObject?: { readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
}

export function unsaid({ lab, dropped, killed, faults }: SimulatedCluster, facts: Iterable<StandingFact>): readonly Finding[] {
  const said = new Set<string>();
  const reasons = new Set<string>();
  for (const object of lab.store.list('events')) {
    const { involvedObject, reason = '', message = '' } = object as unknown as EventFields;
    const uid = involvedObject?.uid ?? '';
    said.add(factKey({ uid, reason, message }));
    reasons.add(`${uid} ${reason}`);
  }
  for (const key of dropped) reasons.add(key.split(' ', 2).join(' '));
  const findings: Finding[] = [];
  for (const fact of facts) {
    const { uid, reason, message, of } = fact;
    if (of !== 'notice' && (killed || faults.repliesLost)) continue;
    const key = factKey(fact);
    if (said.has(key) || dropped.has(key) || (of === 'transition' && reasons.has(`${uid} ${reason}`))) continue;
    findings.push({ kind: `unsaid ${of}`, message: `no Event says what is so: ${reason} ${message} (a ${of} of uid ${uid})` });
  }
  return findings;
}
