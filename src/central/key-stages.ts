/**
 * The keys of members among themselves. Members of an earlier release took part in their cluster with the keys that they show to clients, whose authorities
 * sign those of clients too. They change to an authority of their own in three stages, one member after the other, so that each accepts at any time
 * what every other one shows.
 */
import type { DatabaseName } from './databases.ts';
import type { Material, MemberKeys } from './keys.ts';

/** `accepts` the new authority as well as the old ones; `shows` the new certificate; `requires` it. */
export type KeyStage = 'accepts' | 'shows' | 'requires';
const STAGES: readonly KeyStage[] = ['accepts', 'shows', 'requires'];

/** By the members' addresses: what each has reached, and serves with. */
export type KeyStages = Readonly<Record<string, KeyStage>>;

/** What a member starts with. @param kept on its disk: the ConfigMap may have been made anew */
export function firstStage({ hadOthers }: MemberKeys, stages: KeyStages, address: string, kept?: KeyStage): KeyStage {
  // Where one requires it, all show it.
  if (hadOthers !== true || kept === 'requires' || Object.values(stages).includes('requires')) return 'requires';
  return kept ?? stages[address] ?? 'accepts';
}

/** The stage that a member goes on to; undefined: not now. @param members addresses of all, in order */
export function nextStage(stages: KeyStages, members: readonly string[], address: string): KeyStage | undefined {
  // A member without a stage is of an earlier release, or does not serve yet.
  const reached = members.map((member) => STAGES.indexOf(stages[member] as KeyStage));
  const lowest = Math.min(...reached);
  return lowest >= 0 && members[reached.indexOf(lowest)] === address ? STAGES[lowest + 1] : undefined;
}

/** `key`, `cert` and `cacert` of a database's server for the other members. */
export function clusterKeys({ members, cluster }: MemberKeys, name: DatabaseName, stage: KeyStage): Material {
  const old = { key: members[`${name}-key`] ?? '', cert: members[`${name}-cert`] ?? '', cacert: members[`${name}-cacert`] ?? '' };
  if (stage === 'requires') return cluster;
  return { ...(stage === 'shows' ? cluster : old), cacert: `${cluster['cacert']}${old.cacert}` };
}
