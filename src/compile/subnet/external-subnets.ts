/**
 * Subnets of external Vpcs (`validity/external-network.ts`): made for each switch at an external router, kept as that network is, and deleted with
 * the switch, its link or the router. What is an administrator's in them: annotations, and `spec.excludeIps`.
 */
import { subnetDefaults } from '../../api/defaults/subnet-defaults.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { SubnetSpec } from '../../api/kinds/subnet.ts';
import { API_VERSION } from '../../api/schema/kind.ts';
import { EXTERNAL_PROVIDER, labelKey } from '../../api/well-known.ts';
import { keysOf, prefixed } from '../../engine/domain.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { Json, Output } from '../output.ts';
import { externalSwitches } from '../vpc/external-vpcs.ts';
import type { ExternalNetwork } from './validity/external-network.ts';
import { externalNetwork, isExternalSubnet } from './validity/external-network.ts';
import { isRunning } from './validity/subnet-basics.ts';

const ROUTER = 'router ';
const SUBNET = 'subnet ';

export const externalSubnets: Rule = {
  name: 'external-subnets',
  over: (world) =>
    prefixed(
      world.settings.enableExternalVpc ? { [ROUTER]: world.rows.foreignRouters, [SUBNET]: keysOf(world.subnets, isExternalSubnet) } : {},
    ),
  run: (world, key): readonly Output[] =>
    key.startsWith(ROUTER)
      ? world.ask(externalSwitches, key.slice(ROUTER.length)).flatMap((name) => shown(world, key.slice(ROUTER.length), name))
      : kept(world, key.slice(SUBNET.length)),
};

/** A Subnet of that name that a user made stays as it is: its switch is in conflict with the other one, which is reported on it. */
function shown(world: World, router: string, name: string): readonly Output[] {
  const network = world.ask(externalNetwork, name);
  if (network?.router !== router || world.ask(subnetIntent, name) !== undefined) return [];
  const metadata = { name, labels: { [labelKey.vpcExternal]: 'true' } };
  const spec = { ...specOf(network), private: false, default: false, natOutgoing: false, enableLb: false };
  return [{ kind: 'create', resource: 'subnets', key: name, object: { apiVersion: API_VERSION, kind: 'Subnet', metadata, spec } }];
}

function kept(world: World, name: string): readonly Output[] {
  const subnet = world.ask(subnetIntent, name);
  // A network of ours that runs is no other program's, whatever its labels say.
  if (subnet === undefined || isTerminating(subnet) || isRunning(world, name)) return [];
  const { uid, labels } = subnet.metadata;
  const network = world.ask(externalNetwork, name);
  if (network === undefined) return [{ kind: 'delete', resource: 'subnets', key: name, uid }];
  const spec = { ...changesOf(subnet.spec, specOf(network)), ...defaultsOf(world, name, { ...subnet.spec, ...specOf(network) }) };
  const isMarked = labels?.[labelKey.vpcExternal] === 'true';
  if (isMarked && Object.keys(spec).length === 0) return [];
  const patch = { kind: 'patch', resource: 'subnets', key: name, uid } as const;
  return [{ ...patch, ...(!isMarked && { labels: { [labelKey.vpcExternal]: 'true' } }), ...(Object.keys(spec).length > 0 && { spec }) }];
}

function specOf({ router, cidrs, gateways }: ExternalNetwork): Pick<SubnetSpec, 'protocol' | 'cidrBlock' | 'gateway' | 'provider' | 'vpc'> {
  const protocol = cidrs.length > 1 ? 'Dual' : cidrs[0]?.includes(':') === true ? 'IPv6' : 'IPv4';
  return { protocol, cidrBlock: cidrs.join(','), gateway: gateways.join(','), provider: EXTERNAL_PROVIDER, vpc: router };
}

/** Its fields as the switch has them; a list of namespaces would bind them to a network that is not the cluster's. */
function changesOf(spec: SubnetSpec, wanted: ReturnType<typeof specOf>): Readonly<Record<string, Json>> {
  const held = spec as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(wanted).filter(([field, value]) => held[field] !== value);
  const bound = (['namespaces', 'namespaceSelectors'] as const).filter((field) => (spec[field] ?? []).length > 0);
  return Object.fromEntries([...wrong, ...bound.map((field) => [field, null] as const)]);
}

/** The gateways among the excluded addresses, as in any Subnet. */
function defaultsOf(world: World, name: string, spec: SubnetSpec): Readonly<Record<string, Json>> {
  return subnetDefaults({ name, spec }, world.settings);
}
