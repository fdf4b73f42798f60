/**
 * Namespaces that a Subnet lists, or selects by label, and its Vpc does not list: the Subnet does not serve them, all else of its spec is
 * in effect.
 */
import { selectorMatches } from '../../../api/kubernetes/label-selector.ts';
import type { Labels, LabelSelector } from '../../../api/kubernetes/meta.ts';
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { namespacesNotOfVpc, subnetSelectsOutsideVpc } from '../../../api/validation/subnet-conflicts.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import { splitList } from '../../../net/dual.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { namesText } from '../../findings-text.ts';
import { subnetBasics } from './spec-in-effect.ts';

const NONE: readonly Finding[] = [];

interface VpcLimit {
  readonly vpc: string;
  /** Of the Vpc; never empty. */
  readonly namespaces: readonly string[];
  /** Those that the Subnet's annotation admits: an administrator chose them. */
  readonly admitted: readonly string[];
}

/** Undefined for a Subnet that may serve all namespaces. */
const vpcLimit: Query<VpcLimit | undefined> = defineQuery('subnet-vpc-limit', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  if (basics?.isOvn !== true || basics.inDefaultVpc) return undefined;
  const namespaces = world.ask(vpcIntent, basics.vpc)?.spec.namespaces ?? [];
  if (namespaces.length === 0) return undefined;
  const annotations = world.ask(subnetIntent, name)?.metadata.annotations ?? {};
  return { vpc: basics.vpc, namespaces, admitted: splitList(annotations[kilnAnnotation.admitNamespaces] ?? '') };
});

/** One finding for each such namespace in its list, which is its value. */
export const namespacesOutsideVpc: Query<readonly Finding[]> = defineQuery('subnet-namespaces-outside-vpc', (world, name) => {
  const listed = world.ask(subnetIntent, name)?.spec.namespaces ?? [];
  const limit = listed.length === 0 ? undefined : world.ask(vpcLimit, name);
  return limit === undefined ? NONE : namespacesNotOfVpc(name, limit.vpc, listed, limit);
});

/** The finding for one namespace that the Subnet selects by label. Undefined if the Subnet may serve it. */
export function selectedOutsideVpc(world: World, subnet: string, namespace: string): Finding | undefined {
  const limit = world.ask(vpcLimit, subnet);
  return limit === undefined || isOf(limit, namespace) ? undefined : subnetSelectsOutsideVpc(subnet, limit.vpc, namespace);
}

/** One finding for all namespaces that it selects and does not list. Cost: that of `selectedFindings`. */
export const namespacesSelectedOutsideVpc: Query<readonly Finding[]> = defineQuery('subnet-selected-outside-vpc', (world, name) => {
  const { namespaces = [], namespaceSelectors: selectors = [] } = world.ask(subnetIntent, name)?.spec ?? {};
  const limit = selectors.length === 0 ? undefined : world.ask(vpcLimit, name);
  return limit === undefined ? NONE : selectedFindings(world, name, limit, namespaces, selectors);
});

/** The same for a Subnet of a custom Vpc that is not written yet. */
export function selectedOutsideVpcBy(
  world: World,
  { name, vpc, admitted }: { readonly name: string; readonly vpc: string; readonly admitted: readonly string[] },
  { namespaces = [], namespaceSelectors: selectors = [] }: Pick<SubnetSpec, 'namespaces' | 'namespaceSelectors'>,
): readonly Finding[] {
  const limit = { vpc, namespaces: world.ask(vpcIntent, vpc)?.spec.namespaces ?? [], admitted };
  if (selectors.length === 0 || limit.namespaces.length === 0 || vpc === world.settings.defaultVpc) return NONE;
  return selectedFindings(world, name, limit, namespaces, selectors);
}

/** Cost: the namespaces with a label of each selector; all of them for a selector that demands no label. */
function selectedFindings(
  world: World,
  name: string,
  limit: VpcLimit,
  listed: readonly string[],
  selectors: readonly LabelSelector[],
): readonly Finding[] {
  const selected = selectors.flatMap((selector) =>
    [...candidatesOf(world, selector)].filter(
      (one) => !isOf(limit, one) && !listed.includes(one) && selectorMatches(selector, world.ask(namespaceLabels, one)),
    ),
  );
  if (selected.length === 0) return NONE;
  return [subnetSelectsOutsideVpc(name, limit.vpc, namesText([...new Set(selected)].toSorted()))];
}

const namespaceLabels: Query<Labels> = defineQuery('namespace-labels', (world, name) => world.namespaces.get(name)?.metadata.labels ?? {});

function isOf({ namespaces, admitted }: VpcLimit, namespace: string): boolean {
  return namespaces.includes(namespace) || admitted.includes(namespace);
}

/** At least the namespaces that match. */
function candidatesOf(world: World, { matchLabels = {}, matchExpressions = [] }: LabelSelector): Iterable<string> {
  const [pair] = Object.entries(matchLabels);
  if (pair !== undefined) return world.namespaces.bucket('label', pair.join('='));
  const present = matchExpressions.find(({ operator }) => operator === 'In' || operator === 'Exists');
  return present === undefined ? world.namespaces.keys() : world.namespaces.bucket('label', present.key);
}
