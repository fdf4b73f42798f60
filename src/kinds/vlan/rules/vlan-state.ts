/** What Subnets read of a Vlan: the network and the tag of their localnet ports, or why they have none. */
import type { Reason } from '../../../api/reasons.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { commandText } from '../../../text/command-text.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { vlanProvider, vlanTag } from '../resource/vlan-fields.ts';

export interface VlanState {
  readonly providerNetwork: string;
  /** 0 is untagged. */
  readonly tag: number;
  /** Why no Subnet is connected to it. */
  readonly problem?: VlanProblem;
  /** Another Vlan has its tag. */
  readonly conflict: boolean;
  /** Vlans that wait for it to give up its tag, the oldest first. */
  readonly waiting: readonly string[];
}

export interface VlanProblem {
  readonly reason: Reason;
  readonly message: string;
}

/** Undefined if no Vlan has that name. Without the status: Subnets do not run again when that changes. */
export const vlanState: Query<VlanState | undefined> = defineQuery('vlan-state', (world, name) => {
  const vlan = world.vlans.get(name);
  if (vlan === undefined) return undefined;
  const [providerNetwork, tag] = [vlanProvider(vlan.spec), vlanTag(vlan.spec)];
  const other = olderWithTag(world, name);
  const finding =
    other === undefined
      ? world.ask(networkExists, providerNetwork)
        ? undefined
        : networkMissing(name, providerNetwork)
      : tagTaken(name, providerNetwork, tag, other);
  const problem = finding === undefined ? undefined : { reason: finding.code, message: finding.message };
  const twins = tag === 0 || other !== undefined ? [] : vlansWithTag(world, providerNetwork, tag).filter((one) => one !== name);
  return { providerNetwork, tag, conflict: other !== undefined, waiting: twins, ...(problem !== undefined && { problem }) };
});

/** Undefined if no other Vlan has its tag, or it is the oldest of them. Untagged Vlans share a network. */
function olderWithTag(world: World, name: string): string | undefined {
  const vlan = world.vlans.get(name);
  if (vlan === undefined || vlanTag(vlan.spec) === 0) return undefined;
  const [oldest] = vlansWithTag(world, vlanProvider(vlan.spec), vlanTag(vlan.spec));
  return oldest === name ? undefined : oldest;
}

/**
 * The Vlans with a tag in a ProviderNetwork, the oldest first: it has the tag. Decided by the objects alone, so that a conflict ends with
 * the other Vlan or its tag.
 */
export function vlansWithTag(world: World, provider: string, tag: number): readonly string[] {
  return [...world.vlans.bucket('tag', `${provider} ${tag}`)].toSorted((a, b) => (world.ask(age, a) < world.ask(age, b) ? -1 : 1));
}

const age: Query<string> = defineQuery('vlan-age', (world, name) => {
  const metadata = world.vlans.get(name)?.metadata;
  return `${metadata?.creationTimestamp ?? ''} ${metadata?.uid ?? ''}`;
});

/** @param other the Vlan that has the tag */
export function tagTaken(name: string, provider: string, tag: number, other: string): Finding {
  return findingOf(
    { kind: 'Vlan', name },
    {
      code: 'VlanConflict',
      field: 'spec.id',
      value: String(tag),
      problem: `is the tag of Vlan ${other} in ProviderNetwork ${provider} too`,
      rule: `a tag is one network, and the older Vlan has it: choose another one, or put the Subnets on Vlan ${other}; ${commandText`kubectl edit vlan ${name}`}`,
    },
  );
}

/** What the Vlan that has the tag says of it. @param waiting not empty */
export function tagWaitedFor(name: string, provider: string, tag: number, waiting: readonly string[]): string {
  const [first = '', ...others] = waiting;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return `Vlan ${name} has tag ${tag} of ProviderNetwork ${provider}, and Vlan ${first}${more}, which is newer, waits for it; ${commandText`kubectl edit vlan ${first}`}`;
}

export function networkMissing(name: string, provider: string): Finding {
  return findingOf(
    { kind: 'Vlan', name },
    {
      code: 'ProviderNetworkMissing',
      field: 'spec.provider',
      value: provider,
      problem: 'names a ProviderNetwork that does not exist',
      rule: 'it must name one that does; kubectl get provider-networks',
    },
  );
}

const networkExists: Query<boolean> = defineQuery('provider-network-exists', (world, name) => world.providerNetworks.has(name));
