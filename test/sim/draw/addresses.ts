/**
 * Draws more operations: on EIPs and the rules that name them, virtual machines that migrate, Vips of every type, objects restored from a
 * backup, kinds that are not implemented, and rows of other programs beside and inside ours.
 */
import { SIMULATOR_OF_KINDS } from '../../../src/kinds/generated/simulator.ts';
import type { DrawnKind } from '../../../src/testing/drawn-kind.ts';
import { podSpec } from '../../../src/testing/drawn-kind.ts';
import { RULE_NAMES } from '../../../src/testing/drawn-nat-rule.ts';
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import {
  drawChange,
  EIP_NAMES,
  IPS,
  MACHINE_NAMES,
  MACHINES,
  INSTANCES,
  NAMESPACE_NAMES,
  NODE_NAMES,
  objectsOf,
  OVN_EIPS,
  POD_NAMES,
  PODS,
  SUBNET_NAMES,
  SUBNETS,
  VIP_NAMES,
  VIPS,
} from './objects.ts';
import type { Random } from '../cluster/random.ts';
import { drawRowChange } from './rows.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { ApiPath, ForeignRows, Operation } from '../steps/step.ts';

export const IPTABLES_EIPS = 'kubeovn.io/v1/iptables-eips';

/** Kinds of NAT rules. */
const NAT_PATHS = [
  'kubeovn.io/v1/ovn-fips',
  'kubeovn.io/v1/ovn-snat-rules',
  'kubeovn.io/v1/ovn-dnat-rules',
  'kubeovn.io/v1/iptables-fip-rules',
  'kubeovn.io/v1/iptables-snat-rules',
  'kubeovn.io/v1/iptables-dnat-rules',
] as const;
const OVN_RULES: Readonly<Record<ApiPath, DrawnKind>> = {
  'kubeovn.io/v1/ovn-fips': SIMULATOR_OF_KINDS['ovn-fips'],
  'kubeovn.io/v1/ovn-snat-rules': SIMULATOR_OF_KINDS['ovn-snat-rules'],
  'kubeovn.io/v1/ovn-dnat-rules': SIMULATOR_OF_KINDS['ovn-dnat-rules'],
};

/** Kinds that are not implemented: each object has a condition that reports it. */
const UNSERVED: readonly (readonly [path: ApiPath, spec: JsonObject])[] = [
  ['kubeovn.io/v1/security-groups', {}],
  ['kubeovn.io/v1/vpc-nat-gateways', { vpc: 'v0', subnet: 's0', lanIp: '10.1.0.5' }],
  ['kubeovn.io/v1/vpc-dnses', { vpc: 'v0', subnet: 's0' }],
  [
    'kubeovn.io/v1/switch-lb-rules',
    { namespace: 'ns0', vip: '10.1.0.9', ports: [{ name: 'web', port: 80, targetPort: 80, protocol: 'TCP' }] },
  ],
  ['kubeovn.io/v1/qos-policies', {}],
];

const ACTIONS = { nat: 34, foreign: 22, row: 10, restored: 8, machine: 8, vip: 8, user: 6, unserved: 4 } as const;

export function drawOtherOperation(random: Random, cluster: SimulatedCluster): Operation {
  switch (random.weighted(ACTIONS)) {
    case 'nat':
      return drawNat(random, cluster);
    case 'foreign':
      return drawForeign(random);
    case 'row':
      return drawRowChange(random);
    case 'restored':
      return drawRestored(random, cluster);
    case 'machine':
      return drawMachine(random, cluster);
    case 'vip':
      return drawTyped(random);
    case 'user':
      return drawVipUser(random);
    case 'unserved':
      return drawUnserved(random, cluster);
  }
}

/** EIPs and the rules that name them. */
function drawNat(random: Random, cluster: SimulatedCluster): Operation {
  const path = random.chance(0.4) ? random.pick([OVN_EIPS, IPTABLES_EIPS]) : random.pick(NAT_PATHS);
  const isRule = (NAT_PATHS as readonly string[]).includes(path);
  const name = random.pick(isRule ? RULE_NAMES : EIP_NAMES);
  const spec = isRule ? ruleSpec(random, path) : eipSpec(random, path);
  const create: Operation = { do: 'create', path, namespace: '', object: { metadata: { name }, spec } };
  const present = objectsOf(cluster, path);
  const action =
    present.length === 0
      ? 'create'
      : random.weighted({ create: 40, edit: 18, delete: 20, 'remove-by-force': 8, recreate: 6, 'remove-finalizers': 4 });
  if (action === 'create') return create;
  const where = { path, namespace: '', name: random.pick(present).metadata.name };
  if (action !== 'edit') return drawChange(action, where);
  // The labels and annotations of a rule are removed now and then, by mistake or to get rid of the rule.
  if (isRule && random.chance(0.2)) return { do: 'edit', ...where, patch: { metadata: { labels: null } } };
  return { do: 'edit', ...where, patch: { spec } };
}

function ruleSpec(random: Random, path: ApiPath): JsonObject {
  const drawn = OVN_RULES[path];
  if (drawn !== undefined) return drawn.spec?.(random) ?? {};
  const spec: JsonObject = { eip: random.pick([...EIP_NAMES, 'eip9']) };
  spec[path.includes('snat') ? 'internalCIDR' : 'internalIp'] = path.includes('snat') ? '10.1.1.0/24' : '10.1.1.9';
  if (path.includes('dnat')) Object.assign(spec, { externalPort: '80', internalPort: '8080', protocol: 'tcp' });
  return spec;
}

function eipSpec(random: Random, path: ApiPath): JsonObject {
  const ovn = path === OVN_EIPS;
  const spec: JsonObject = { externalSubnet: random.pick(SUBNET_NAMES) };
  if (random.chance(0.5)) spec[ovn ? 'v4Ip' : 'v4ip'] = random.pick(['10.1.0.2', '10.1.0.3', '10.1.1.10', '10.2.0.3']);
  if (ovn && random.chance(0.5)) spec['type'] = random.pick(['nat', 'lrp', 'lsp']);
  if (!ovn) spec['natGwDp'] = 'gw0';
  return spec;
}

function drawForeign(random: Random): Operation {
  const what = random.weighted<ForeignRows | 'remove'>({
    switch: 1,
    router: 3,
    group: 2,
    'load-balancer': 1,
    'same-name': 1,
    'same-router': 1,
    'same-port': 2,
    'same-group': 1,
    'port-in-ours': 3,
    'acl-in-ours': 3,
    'qos-in-ours': 2,
    'route-in-ours': 2,
    'policy-in-ours': 2,
    'nat-in-ours': 2,
    'balancer-in-ours': 2,
    'port-in-router': 1,
    'acl-in-group': 1,
    remove: 22,
  });
  return { do: 'foreign', name: `y${random.below(4)}`, what };
}

const ADDRESS_IN: Readonly<Record<string, readonly string[]>> = {
  '10.1.0.0/29': ['10.1.0.2', '10.1.0.3'],
  '10.1.0.0/28': ['10.1.0.2', '10.1.0.3'],
  '10.1.1.0/24': ['10.1.1.2', '10.1.1.10'],
  '10.2.0.0/28': ['10.2.0.2', '10.2.0.3'],
  '10.3.0.0/24': ['10.3.0.2', '10.3.0.7'],
  '10.16.0.0/16': ['10.16.0.2', '10.16.0.3'],
};

/** Label of pods that come from a backup. */
export const RESTORED = 'restored';

/** As from a backup: the object has the addresses that it had then, and another object may use them now. */
function drawRestored(random: Random, cluster: SimulatedCluster): Operation {
  const subnets = objectsOf(cluster, SUBNETS).filter(({ spec }) => ADDRESS_IN[(spec as JsonObject)['cidrBlock'] as string] !== undefined);
  if (subnets.length === 0) return drawTyped(random);
  const { metadata, spec: subnetSpec } = random.pick(subnets);
  const subnet = metadata.name;
  const address = random.pick(ADDRESS_IN[(subnetSpec as JsonObject)['cidrBlock'] as string] ?? []);
  const namespace = random.pick(NAMESPACE_NAMES);
  const pod = random.pick(POD_NAMES);
  const macAddress = `0a:00:00:00:00:0${1 + random.below(4)}`;
  switch (random.weighted({ ip: 3, pod: 3, vip: 1, eip: 1 })) {
    case 'ip': {
      const spec = { podName: pod, namespace, subnet, podType: '', ipAddress: address, v4IpAddress: address, macAddress };
      const labels: JsonObject = random.chance(0.5) ? { 'ovn.kubernetes.io/ip_reserved': 'true' } : {};
      return { do: 'create', path: IPS, namespace: '', object: { metadata: { name: `${pod}.${namespace}`, labels }, spec } };
    }
    case 'pod': {
      const annotations = Object.fromEntries(
        Object.entries({ allocated: 'true', logical_switch: subnet, ip_address: address, mac_address: macAddress }).map(([key, value]) => [
          `ovn.kubernetes.io/${key}`,
          value,
        ]),
      );
      const spec = { ...podSpec(), nodeName: random.pick(NODE_NAMES) };
      return {
        do: 'create',
        path: PODS,
        namespace,
        object: { metadata: { name: pod, namespace, annotations, labels: { [RESTORED]: 'true' } }, spec },
      };
    }
    case 'vip':
      return {
        do: 'create',
        path: VIPS,
        namespace: '',
        object: {
          metadata: { name: random.pick(VIP_NAMES), finalizers: ['kubeovn.io/kube-ovn-controller'] },
          spec: { subnet, v4ip: address, macAddress },
        },
      };
    case 'eip':
      return {
        do: 'create',
        path: OVN_EIPS,
        namespace: '',
        object: {
          metadata: { name: random.pick(EIP_NAMES), finalizers: ['kubeovn.io/kube-ovn-controller'] },
          spec: { externalSubnet: subnet, v4Ip: address, macAddress, type: 'nat' },
        },
      };
  }
}

/** A virtual machine, its instance, and its pods: two of them while it migrates. */
function drawMachine(random: Random, cluster: SimulatedCluster): Operation {
  const namespace = random.pick(NAMESPACE_NAMES);
  const name = random.pick(MACHINE_NAMES);
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${namespace}/${name}`);
  const machine = cluster.lab.store.get('virtualmachines.kubevirt.io', `${namespace}/${name}`);
  if (machine === undefined && random.chance(0.7))
    return { do: 'create', path: MACHINES, namespace, object: { metadata: { name, namespace }, spec: {} } };
  if (instance === undefined) return { do: 'create', path: INSTANCES, namespace, object: { metadata: { name, namespace }, spec: {} } };
  const action = random.weighted({ launch: 6, stop: 1, delete: 1 });
  if (action === 'stop') return { do: 'delete', path: INSTANCES, namespace, name };
  if (action === 'delete') return { do: 'delete', path: MACHINES, namespace, name };
  const pod = `launcher-${name}-${random.below(3)}`;
  const annotations: JsonObject = {};
  if (random.chance(0.4)) annotations['kubevirt.io/migrationJobName'] = 'job';
  if (random.chance(0.2)) annotations['ovn.kubernetes.io/logical_switch'] = random.pick(SUBNET_NAMES);
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid };
  const spec = { ...podSpec(), nodeName: random.pick(NODE_NAMES), restartPolicy: 'Never' };
  return {
    do: 'create',
    path: PODS,
    namespace,
    object: { metadata: { name: pod, namespace, annotations, ownerReferences: [owner] }, spec },
  };
}

function drawTyped(random: Random): Operation {
  const spec: JsonObject = { subnet: random.pick(SUBNET_NAMES) };
  const type = random.pick(['', '', 'switch_lb_vip', 'kube_host_vm_vip', 'nonsense']);
  if (type !== '') spec['type'] = type;
  if (random.chance(0.7)) spec['namespace'] = random.pick(NAMESPACE_NAMES);
  if (random.chance(0.3)) spec['selector'] = [`app:${random.pick(POD_NAMES)}`];
  if (random.chance(0.4)) spec['v4ip'] = random.pick(['10.1.0.2', '10.1.0.3', '10.1.1.10', '10.2.0.3']);
  return { do: 'create', path: VIPS, namespace: '', object: { metadata: { name: random.pick(VIP_NAMES) }, spec } };
}

/** A pod that gets the address of a Vip, or may use it beside its own. */
function drawVipUser(random: Random): Operation {
  const namespace = random.pick(NAMESPACE_NAMES);
  const annotations = { [`ovn.kubernetes.io/${random.pick(['vip', 'aaps'])}`]: random.pick(VIP_NAMES) };
  const name = random.pick(POD_NAMES);
  const spec = { ...podSpec(), nodeName: random.pick(NODE_NAMES) };
  return { do: 'create', path: PODS, namespace, object: { metadata: { name, namespace, annotations, labels: { app: name } }, spec } };
}

function drawUnserved(random: Random, cluster: SimulatedCluster): Operation {
  const [path, spec] = random.pick(UNSERVED);
  const present = objectsOf(cluster, path);
  if (present.length === 0 || random.chance(0.4))
    return { do: 'create', path, namespace: '', object: { metadata: { name: `u${random.below(2)}` }, spec } };
  return drawChange(random.pick(['delete', 'remove-by-force', 'recreate']), {
    path,
    namespace: '',
    name: random.pick(present).metadata.name,
  });
}
