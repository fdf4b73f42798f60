/** Who holds what: an object says that it is in a Subnet or a Vpc, or has an IP object or an EIP. By what it says, without asking any rule. */
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

/** Rules that name an EIP: table, and the field that names it. */
const NAT_RULES: Readonly<Record<string, string>> = {
  ...{ 'ovn-fips.kubeovn.io': 'ovnEip', 'ovn-snat-rules.kubeovn.io': 'ovnEip', 'ovn-dnat-rules.kubeovn.io': 'ovnEip' },
  ...{ 'iptables-fip-rules.kubeovn.io': 'eip', 'iptables-snat-rules.kubeovn.io': 'eip', 'iptables-dnat-rules.kubeovn.io': 'eip' },
};
const ADDRESSES = ['vips.kubeovn.io', 'ovn-eips.kubeovn.io', 'iptables-eips.kubeovn.io'];
/** Tables of who holds, and of what is held. */
export const HOLDING = [SUBNETS, IPS, 'pods', 'nodes', ...ADDRESSES, ...Object.keys(NAT_RULES)];
export const HELD = new Set([VPCS, SUBNETS, IPS, POOLS, ...ADDRESSES]);

/** What an object says that it is in or has: `<table> <name>`. @param hasRow whether there is such a row of its own */
export function claimsOf(table: string, object: KubeObject, hasRow: (table: string, name: string) => boolean): readonly string[] {
  const { name, namespace = '', labels = {}, annotations = {}, finalizers = [], deletionTimestamp } = object.metadata;
  const spec = specOf(object);
  const isOurs = finalizers.includes(FINALIZER);
  if (table === SUBNETS) {
    // One that is refused and has no network is in no Vpc: it came when that was being deleted, or somebody took its switch away by hand.
    // Nor is one that Kiln has let go, and that another program keeps.
    const isLetGo = deletionTimestamp !== undefined && !isOurs;
    if ((isLetGo || !isAccepted(object)) && !hasRow('Logical_Switch', name)) return [];
    // Where it stays is told by its port there, which somebody may take away.
    const stayed = stayedIn(object);
    return [`${VPCS} ${stayed !== undefined && hasRow('Logical_Router_Port', `${stayed}-${name}`) ? stayed : text(spec['vpc'])}`];
  }
  if (table === IPS) {
    const said = text(spec['v4IpAddress']) !== '' || text(spec['v6IpAddress']) !== '';
    return said && isOurs ? [`${SUBNETS} ${text(spec['subnet'])}`] : [];
  }
  if (ADDRESSES.includes(table)) return isOurs ? [`${SUBNETS} ${labels['ovn.kubernetes.io/subnet'] ?? ''}`] : [];
  const field = NAT_RULES[table];
  if (field !== undefined) {
    const eip = text(spec[field]);
    const seen = annotations['ovn.kubernetes.io/vpc_eip'];
    // What it is marked with is what it named when it was seen last: nothing where that was refused.
    if (seen !== undefined && seen !== eip) return [];
    const marked = seen === eip && (labels['ovn.kubernetes.io/eip_v4_ip'] ?? '') !== '';
    const eips = field === 'eip' ? 'iptables-eips.kubeovn.io' : 'ovn-eips.kubeovn.io';
    // One that came when its EIP was being deleted, and was told so, has nothing of it.
    if (!marked && conditionsOf(object).some(({ type, status }) => type === 'Accepted' && status === 'False')) return [];
    return [`${eips} ${eip}`, ...(marked ? [`${SUBNETS} ${labels['ovn.kubernetes.io/subnet'] ?? ''}`] : [])];
  }
  const phase = ((object['status'] ?? {}) as Field)['phase'];
  const runs = deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed';
  // A pod of a machine has the address of the machine, which has another name.
  const isMachine = annotations[podAnnotation('ovn', 'virtualmachine')] !== undefined;
  if (!runs || isMachine || annotations[podAnnotation('ovn', 'allocated')] !== 'true') return [];
  // Somebody took the address out: its IP object and its port say it, where they are left.
  if ((annotations[podAnnotation('ovn', 'ip_address')] ?? '') === '') return [];
  const subnet = `${SUBNETS} ${annotations[podAnnotation('ovn', 'logical_switch')] ?? ''}`;
  return [subnet, table === 'nodes' ? `${IPS} node-${name}` : `${IPS} ${name}.${namespace}`];
}

interface Said {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

function conditionsOf(object: KubeObject): readonly Said[] {
  return ((object['status'] ?? {}) as { readonly conditions?: readonly Said[] }).conditions ?? [];
}

export function isAccepted(subnet: KubeObject): boolean {
  return conditionsOf(subnet).some(({ type, status }) => type === 'Accepted' && status === 'True');
}

/** Of a Subnet whose `spec.vpc` was edited: it does not move, and says which Vpc it is in. */
function stayedIn(subnet: KubeObject): string | undefined {
  return conditionsOf(subnet)
    .map(({ message = '' }) => /the Subnet is in Vpc (\S+), and a Subnet does not move/.exec(message)?.[1])
    .find((vpc) => vpc !== undefined);
}
