/**
 * Subnets of external Vpcs (`validity/external-network.ts`): made for each switch at an external router, kept as that network is, and deleted after
 * the switch, its link or the router (`cause-gone.ts`). What is an administrator's in them: annotations, and `spec.excludeIps`.
 */
import { subnetDefaults } from '../../api/defaults/subnet-defaults.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { SubnetSpec } from '../../api/kinds/subnet.ts';
import { API_VERSION } from '../../api/schema/kind.ts';
import { EXTERNAL_PROVIDER, labelKey } from '../../api/well-known.ts';
import { splitList } from '../../net/dual.ts';
import { keysOf, prefixed } from '../../engine/domain.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { World } from '../../world/world.ts';
import { causeGone, causeThere, fieldsSet } from '../cause-gone.ts';
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
  const { metadata } = subnet;
  const network = world.ask(externalNetwork, name);
  const made = { resource: 'subnets', metadata } as const;
  if (network === undefined)
    return [causeGone(world, made, { text: `switch ${name} of another program, or its port in a router,` }, setIn(subnet.spec))];
  const spec = { ...changesOf(subnet.spec, specOf(network)), ...defaultsOf(world, name, { ...subnet.spec, ...specOf(network) }) };
  const isMarked = metadata.labels?.[labelKey.vpcExternal] === 'true';
  const patch = causeThere(made);
  return [{ ...patch, ...(!isMarked && { labels: { [labelKey.vpcExternal]: 'true' } }), ...(Object.keys(spec).length > 0 && { spec }) }];
}

function specOf({ router, cidrs, gateways }: ExternalNetwork): Pick<SubnetSpec, 'protocol' | 'cidrBlock' | 'gateway' | 'provider' | 'vpc'> {
  const protocol = cidrs.length > 1 ? 'Dual' : cidrs[0]?.includes(':') === true ? 'IPv6' : 'IPv4';
  return { protocol, cidrBlock: cidrs.join(','), gateway: gateways.join(','), provider: EXTERNAL_PROVIDER, vpc: router };
}

/** What an administrator has set: the gateways are excluded in any case. */
function setIn(spec: SubnetSpec): readonly string[] {
  const gateways = splitList(spec.gateway ?? '');
  return fieldsSet({ ...spec, excludeIps: (spec.excludeIps ?? []).filter((ips) => !gateways.includes(ips)) }, OF_SWITCH);
}

const OF_SWITCH: readonly (keyof ReturnType<typeof specOf>)[] = ['protocol', 'cidrBlock', 'gateway', 'provider', 'vpc'];

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
