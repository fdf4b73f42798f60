/** Which Subnets name a Namespace, in declared order, read from specs alone. */
import type { SubnetSpec } from '../../../src/api/kinds/subnet.ts';
import { selectorMatches } from '../../../src/api/kubernetes/label-selector.ts';
import { DEFAULT_SUBNET, DEFAULT_VPC, kilnAnnotation } from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import type { World } from '../../../src/world/world.ts';
import { isTrue } from './observed-state.ts';

/**
 * First the default Subnets of the Vpcs that name it, then Subnets that list it (unless their Vpc lists other Namespaces only), then
 * Subnets that select it by label, each sorted by name; else the cluster's default Subnet. Undefined if one of them may be in another Vpc
 * than its spec says.
 */
export function declaredSubnets(world: World, namespace: string): readonly string[] | undefined {
  const { labels = {}, annotations = {} } = world.namespaces.peek(namespace)?.metadata ?? {};
  const vpcs = [...world.vpcs.entries()]
    .filter(([vpc, { spec }]) => vpc !== DEFAULT_VPC && (spec.namespaces ?? []).includes(namespace))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (namespace === 'kube-system' && vpcs.length > 0) return undefined;
  const ofVpcs = vpcs.flatMap(([, { spec }]) => spec.defaultSubnet || []);
  const isElsewhere = (subnet: string): boolean => {
    const { conditions } = world.subnets.peek(subnet)?.status ?? {};
    return world.subnets.has(subnet) && !isTrue(conditions, 'Accepted', '');
  };
  if (ofVpcs.some(isElsewhere)) return undefined;
  const own = vpcs.flatMap(([vpc, { spec }]) => {
    const subnet = world.subnets.peek(spec.defaultSubnet ?? '');
    const isIn = subnet === undefined || (subnet.spec.vpc || DEFAULT_VPC) === vpc;
    return isIn && spec.defaultSubnet ? [spec.defaultSubnet] : [];
  });
  const isListed = ({ namespaces = [] }: SubnetSpec): boolean => namespaces.includes(namespace);
  const isSelected = ({ namespaceSelectors = [] }: SubnetSpec): boolean => namespaceSelectors.some((one) => selectorMatches(one, labels));
  const isServing = ({ provider = '' }: SubnetSpec): boolean => ['', 'ovn'].includes(provider);
  const subnets = [...world.subnets.entries()];
  const serving = subnets.filter(([, { spec }]) => isServing(spec));
  const others = subnets.filter(([, { spec }]) => !isServing(spec));
  // While a spec is refused, the provider of the last accepted one is in effect.
  if (others.some(([subnet, { spec }]) => (isListed(spec) || isSelected(spec)) && isElsewhere(subnet))) return undefined;
  const listed = serving.filter(([, { spec }]) => isListed(spec));
  // Of several faults of a spec the condition names one.
  const hasMoved = ([name, { spec, status }]: (typeof listed)[number]): boolean =>
    status?.conditions?.some(({ reason }) => reason === 'SubnetVpcChanged') === true ||
    ((spec.vpc || DEFAULT_VPC) !== DEFAULT_VPC && isElsewhere(name));
  const selected = serving.filter(([, { spec }]) => isSelected(spec));
  if ([...listed, ...selected].some(hasMoved)) return undefined;
  const isOfVpc = ([, { metadata, spec }]: (typeof listed)[number]): boolean => {
    const of = spec.vpc || DEFAULT_VPC;
    const allowed = of === DEFAULT_VPC ? [] : (world.vpcs.peek(of)?.spec.namespaces ?? []);
    const admitted = splitList(metadata.annotations?.[kilnAnnotation.admitNamespaces] ?? '');
    return allowed.length === 0 || [...allowed, ...admitted].includes(namespace);
  };
  const names = [
    ...new Set([
      ...own,
      ...[listed, selected].flatMap((some) =>
        some
          .filter(isOfVpc)
          .map(([name]) => name)
          .toSorted(),
      ),
    ]),
  ];
  const awaited = splitList((annotations[kilnAnnotation.awaitSubnet] ?? '').trim());
  return names.length > 0 || awaited.length > 0 || vpcs.length > 0 || listed.length + selected.length > 0 ? names : [DEFAULT_SUBNET];
}
