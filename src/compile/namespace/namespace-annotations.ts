/**
 * Kube-OVN's annotations on a Namespace, which report its Subnets and IPPools to users and other programs. No rule reads them. The lists
 * are parallel: the n-th CIDR is that of the n-th Subnet.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { isObjectName } from '../../api/values/object-name.ts';
import { withSubnetDefaults } from '../../api/defaults/subnet-defaults.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../api/well-known.ts';
import { parseAddress } from '../../net/address.ts';
import { parseDualCidr, splitList } from '../../net/dual.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { findingsText } from '../findings-text.ts';
import { namespaceBinding, namespaceFacts } from './namespace-binding.ts';
import { subnetSpec, subnetView } from '../subnet/validity/subnet-view.ts';

const KEYS = {
  subnets: podAnnotation(DEFAULT_PROVIDER, 'logical_switch'),
  cidrs: podAnnotation(DEFAULT_PROVIDER, 'cidr'),
  excludeIps: annotationKey.excludeIps,
  pools: podAnnotation(DEFAULT_PROVIDER, 'ip_pool'),
} as const;

export const namespaceAnnotations: Rule = {
  name: 'namespace-annotations',
  over: (world) => keysOf(world.namespaces, ({ metadata }) => metadata.deletionTimestamp === undefined),
  run: (world, name) => {
    const uid = world.ask(namespaceFacts, name)?.uid;
    if (uid === undefined) return [];
    const binding = world.ask(namespaceBinding, name);
    const subnets = binding.subnets.flatMap((subnet) => subnetText(world, subnet) ?? []);
    const list = (texts: readonly string[], separator: string): string | null => (texts.length === 0 ? null : texts.join(separator));
    const desired: AnnotationValues = {
      subnets: list(
        subnets.map((subnet) => subnet.name),
        ',',
      ),
      cidrs: list(
        subnets.map((subnet) => subnet.cidr),
        ';',
      ),
      excludeIps: list(
        subnets.map((subnet) => subnet.excludeIps),
        ';',
      ),
      pools: list(binding.pools, ','),
    };
    const observed = world.ask(observedAnnotations, name);
    const fields = writtenByOthers(observed, desired);
    const corrected = fields.map((field) => correction(world, name, field, desired));
    const type = fields.every((field) => field === 'subnets' && maybeReplaced(world, name)) ? 'Normal' : 'Warning';
    const message = `${findingsText(corrected)}; kubectl get subnets,ippools -o custom-columns=NAME:.metadata.name,NAMESPACES:.spec.namespaces`;
    return [
      {
        kind: 'patch',
        resource: 'namespaces',
        key: name,
        uid,
        annotations: Object.fromEntries(FIELDS.map((field) => [KEYS[field], desired[field]])),
        ...leftOf(world, observed, desired, fields),
        ...(corrected.length > 0 && { event: { type, reason: 'FieldCorrected', message } as const }),
      },
    ];
  },
};

/** The values of the annotations; null for none. */
type AnnotationValues = Readonly<Record<keyof typeof KEYS, string | null>>;
const FIELDS = Object.keys(KEYS) as readonly (keyof typeof KEYS)[];

const observedAnnotations: Query<AnnotationValues> = defineQuery('namespace-observed-annotations', (world, name) => {
  const { annotations = {} } = world.namespaces.get(name)?.metadata ?? {};
  const valueOf = (field: keyof typeof KEYS): string | null => annotations[KEYS[field]] ?? null;
  return { subnets: valueOf('subnets'), cidrs: valueOf('cidrs'), excludeIps: valueOf('excludeIps'), pools: valueOf('pools') };
});

/**
 * The fields that a user or another program wrote, among those that differ. Kiln writes names and CIDRs of the Subnets together. So these
 * are not Kiln's: names without CIDRs, CIDRs without names, a text that is no CIDR, and other names beside the desired CIDRs. Pool names
 * alone may be Kiln's own of before, unless one is an address.
 */
function writtenByOthers(observed: AnnotationValues, desired: AnnotationValues): readonly (keyof typeof KEYS)[] {
  const differs = FIELDS.filter((field) => observed[field] !== null && observed[field].trim() !== '' && observed[field] !== desired[field]);
  const networksOfOthers = observed.cidrs !== null && (observed.subnets === null || !observed.cidrs.split(';').every(isNetworkText));
  const inStep = observed.cidrs === desired.cidrs && observed.excludeIps === desired.excludeIps;
  // If no Subnet serves the namespace, Kiln writes the pools alone.
  const poolsMayBeOwn = observed.cidrs !== null || (observed.subnets === null && desired.subnets === null);
  return differs.filter((field) => {
    if (field === 'pools')
      return !poolsMayBeOwn || splitList(observed.pools ?? '').some((item) => parseAddress(item) !== undefined || !isObjectName(item));
    return observed.cidrs === null || networksOfOthers || (field === 'subnets' && inStep);
  });
}

/**
 * Of the annotations that Kiln wrote and nothing asks for now, those of Subnets and IPPools that do not exist. One that exists names the
 * Namespace no longer: that is a change.
 */
function leftOf(
  world: World,
  observed: AnnotationValues,
  desired: AnnotationValues,
  byOthers: readonly (keyof typeof KEYS)[],
): { readonly leftOf?: Readonly<Record<string, string>> } {
  const found = FIELDS.flatMap((field) => {
    if (observed[field] === null || desired[field] !== null || byOthers.includes(field)) return [];
    const [kind, table, text] =
      field === 'pools' ? (['ippool', world.ipPools, observed.pools] as const) : (['subnet', world.subnets, observed.subnets] as const);
    const names = splitList(text ?? '');
    const [first] = names;
    return first === undefined || names.some((one) => table.has(one)) ? [] : [[KEYS[field], `${kind}//${first}`] as const];
  });
  return found.length === 0 ? {} : { leftOf: Object.fromEntries(found) };
}

/** Whether the text is the CIDR of a Subnet; empty for a Subnet with MACs only. */
function isNetworkText(text: string): boolean {
  return text === '' || parseDualCidr(text).ok;
}

/**
 * Whether no Subnet has the names beside the CIDRs: maybe Kiln wrote them, for a Subnet that another one with the same CIDR has replaced.
 */
function maybeReplaced(world: World, name: string): boolean {
  const { subnets, cidrs } = world.ask(observedAnnotations, name);
  return cidrs !== null && splitList(subnets ?? '').every((subnet) => world.ask(subnetView, subnet) === undefined);
}

function correction(world: World, name: string, field: keyof typeof KEYS, desired: AnnotationValues): Finding {
  return findingOf(
    { kind: 'Namespace', name },
    {
      code: 'FieldCorrected',
      field: `metadata.annotations[${KEYS[field]}]`,
      value: world.ask(observedAnnotations, name)[field] ?? '',
      problem: field === 'subnets' && maybeReplaced(world, name) ? 'names no existing Subnet' : 'binds nothing',
      rule: `the annotation says which Subnets and IPPools name the namespace in spec.namespaces, so Kiln sets it to "${desired[field] ?? ''}"`,
    },
  );
}

function subnetText(world: World, name: string): { readonly name: string; readonly cidr: string; readonly excludeIps: string } | undefined {
  const view = world.ask(subnetView, name);
  if (view === undefined) return undefined;
  // With the gateway, whether the applied list has it or not.
  const { excludeIps = [] } = withSubnetDefaults({ name, spec: world.ask(subnetSpec, name) ?? {} }, world.settings);
  return { name, cidr: view.cidr, excludeIps: excludeIps.join(',') };
}
