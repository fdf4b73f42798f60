/**
 * The dependencies of objects, read from the objects themselves: a Subnet or Vpc that they are in, an IP object or EIP that they use. It
 * uses no rule.
 */
import { FINALIZER, podAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';

const VPCS = 'vpcs.kubeovn.io';
export const SUBNETS = 'subnets.kubeovn.io';
export const IPS = 'ips.kubeovn.io';
const POOLS = 'ippools.kubeovn.io';

export interface Field {
  readonly [name: string]: unknown;
}

export const specOf = (object: KubeObject): Field => (object['spec'] ?? {}) as Field;
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** NAT rules that name an EIP: table, and the field that names it. */
const NAT_RULES: Readonly<Record<string, string>> = {
  ...{ 'ovn-fips.kubeovn.io': 'ovnEip', 'ovn-snat-rules.kubeovn.io': 'ovnEip', 'ovn-dnat-rules.kubeovn.io': 'ovnEip' },
  ...{ 'iptables-fip-rules.kubeovn.io': 'eip', 'iptables-snat-rules.kubeovn.io': 'eip', 'iptables-dnat-rules.kubeovn.io': 'eip' },
};
const ADDRESSES = ['vips.kubeovn.io', 'ovn-eips.kubeovn.io', 'iptables-eips.kubeovn.io'];
/** Tables of dependents, and of the objects that they depend on. */
export const DEPENDENT_TABLES = [SUBNETS, IPS, 'pods', 'nodes', ...ADDRESSES, ...Object.keys(NAT_RULES)];
export const DEPENDENCY_TABLES = new Set([VPCS, SUBNETS, IPS, POOLS, ...ADDRESSES]);

/** What an object depends on by its own fields: `<table> <name>`. @param hasRow whether the object owns a row of this table and name */
export function dependenciesOf(table: string, object: KubeObject, hasRow: (table: string, name: string) => boolean): readonly string[] {
  const { name, namespace = '', labels = {}, annotations = {}, finalizers = [], deletionTimestamp } = object.metadata;
  const spec = specOf(object);
  const isOurs = finalizers.includes(FINALIZER);
  if (table === SUBNETS) {
    // An invalid Subnet without a network is in no Vpc: it was created while the Vpc was being deleted, or a user deleted its switch. Nor
    // is a Subnet from which Kiln removed its finalizer while another finalizer keeps it.
    const isReleased = deletionTimestamp !== undefined && !isOurs;
    if ((isReleased || !isAccepted(object)) && !hasRow('Logical_Switch', name)) return [];
    // Its router port shows the Vpc that it stays in; a user may have deleted that port.
    const vpc = vpcInEffect(object);
    return [`${VPCS} ${vpc !== undefined && hasRow('Logical_Router_Port', `${vpc}-${name}`) ? vpc : text(spec['vpc'])}`];
  }
  if (table === IPS) {
    // An address for the Subnet itself goes after the Subnet.
    if (text(spec['podName']) === name && /^(u2o-interconnection|mcast-querier)\./.test(name)) return [];
    const hasAddress = text(spec['v4IpAddress']) !== '' || text(spec['v6IpAddress']) !== '';
    return hasAddress && isOurs ? [`${SUBNETS} ${text(spec['subnet'])}`] : [];
  }
  if (ADDRESSES.includes(table)) return isOurs ? [`${SUBNETS} ${labels['ovn.kubernetes.io/subnet'] ?? ''}`] : [];
  const field = NAT_RULES[table];
  if (field !== undefined) {
    const eip = text(spec[field]);
    const eipInEffect = annotations['ovn.kubernetes.io/vpc_eip'];
    // The labels of a NAT rule are those of the EIP that it named when it was last accepted: they do not count if it names another EIP now.
    if (eipInEffect !== undefined && eipInEffect !== eip) return [];
    const isAccepted = eipInEffect === eip && (labels['ovn.kubernetes.io/eip_v4_ip'] ?? '') !== '';
    const eips = field === 'eip' ? 'iptables-eips.kubeovn.io' : 'ovn-eips.kubeovn.io';
    // A NAT rule that was created while its EIP was being deleted, and was not accepted, holds no address of it.
    if (!isAccepted && conditionsOf(object).some(({ type, status }) => type === 'Accepted' && status === 'False')) return [];
    return [`${eips} ${eip}`, ...(isAccepted ? [`${SUBNETS} ${labels['ovn.kubernetes.io/subnet'] ?? ''}`] : [])];
  }
  const phase = ((object['status'] ?? {}) as Field)['phase'];
  const runs = deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed';
  // A pod of a virtual machine has the address of the machine, which has another name.
  const isMachine = annotations[podAnnotation('ovn', 'virtualmachine')] !== undefined;
  if (!runs || isMachine || annotations[podAnnotation('ovn', 'allocated')] !== 'true') return [];
  // A user removed the address from the pod: its IP object and its port still show it, if they exist.
  if ((annotations[podAnnotation('ovn', 'ip_address')] ?? '') === '') return [];
  const subnet = `${SUBNETS} ${annotations[podAnnotation('ovn', 'logical_switch')] ?? ''}`;
  return [subnet, table === 'nodes' ? `${IPS} node-${name}` : `${IPS} ${name}.${namespace}`];
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  return ((object['status'] ?? {}) as { readonly conditions?: readonly Condition[] }).conditions ?? [];
}

export function isAccepted(subnet: KubeObject): boolean {
  return conditionsOf(subnet).some(({ type, status }) => type === 'Accepted' && status === 'True');
}

/** The Vpc that a Subnet stays in after its `spec.vpc` was edited, from its condition: a Subnet does not move. */
function vpcInEffect(subnet: KubeObject): string | undefined {
  return conditionsOf(subnet)
    .map(({ message = '' }) => /the Subnet is in Vpc (\S+), and a Subnet does not move/.exec(message)?.[1])
    .find((vpc) => vpc !== undefined);
}
