/** What Subnets read of a Vlan: the network and the tag of their localnet ports, or why they have none. */
import type { Reason } from '../../../api/reasons.ts';
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
  const problem = other === undefined ? networkProblem(world, name, providerNetwork) : tagTaken(name, providerNetwork, tag, other);
  return { providerNetwork, tag, conflict: other !== undefined, ...(problem !== undefined && { problem }) };
});

/**
 * The Vlan that has this one's tag in its ProviderNetwork: the oldest of them. Untagged Vlans share a network. Decided by the objects alone,
 * so that it ends with the other Vlan or its tag.
 */
function olderWithTag(world: World, name: string): string | undefined {
  const vlan = world.vlans.get(name);
  if (vlan === undefined || vlanTag(vlan.spec) === 0) return undefined;
  const same = [...world.vlans.bucket('tag', `${vlanProvider(vlan.spec)} ${vlanTag(vlan.spec)}`)];
  const [oldest] = same.toSorted((a, b) => (world.ask(age, a) < world.ask(age, b) ? -1 : 1));
  return oldest === name ? undefined : oldest;
}

const age: Query<string> = defineQuery('vlan-age', (world, name) => {
  const metadata = world.vlans.get(name)?.metadata;
  return `${metadata?.creationTimestamp ?? ''} ${metadata?.uid ?? ''}`;
});

function tagTaken(name: string, provider: string, tag: number, other: string): VlanProblem {
  const { code, message } = findingOf(
    { kind: 'Vlan', name },
    {
      code: 'VlanConflict',
      field: 'spec.id',
      value: String(tag),
      problem: `is the tag of Vlan ${other} in ProviderNetwork ${provider} too`,
      rule: `a tag is one network, and the older Vlan has it: choose another one, or put the Subnets on Vlan ${other}; ${commandText`kubectl edit vlan ${name}`}`,
    },
  );
  return { reason: code, message };
}

function networkProblem(world: World, name: string, provider: string): VlanProblem | undefined {
  if (world.ask(networkExists, provider)) return undefined;
  const { code, message } = findingOf(
    { kind: 'Vlan', name },
    {
      code: 'ProviderNetworkMissing',
      field: 'spec.provider',
      value: provider,
      problem: 'names a ProviderNetwork that does not exist',
      rule: 'it must name one that does; kubectl get provider-networks',
    },
  );
  return { reason: code, message };
}

const networkExists: Query<boolean> = defineQuery('provider-network-exists', (world, name) => world.providerNetworks.has(name));
