/** Valid objects to begin with, each with a name and networks of its own. A folder of manifests is added with `MANIFESTS=folder`. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
}

const NETWORK = { apiVersion: 'kubeovn.io/v1' } as const;

/** @param at distinguishes the objects of one round: a number below 200 */
const SOUND: readonly ((name: string, at: number) => Manifest)[] = [
  (name) => ({
    ...NETWORK,
    kind: 'Vpc',
    metadata: { name },
    spec: {
      namespaces: ['ground'],
      staticRoutes: [{ cidr: '10.99.0.0/16', nextHopIP: '10.98.0.1', policy: 'policyDst', routeTable: '' }],
      policyRoutes: [{ action: 'reroute', match: 'ip4.src == 10.97.0.0/24', nextHopIP: '10.98.0.2', priority: 12_000 }],
      vpcPeerings: [{ remoteVpc: 'ground', localConnectIP: '169.254.0.1/30' }],
    },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'Subnet',
    metadata: { name },
    spec: {
      vpc: 'ground',
      cidrBlock: `10.201.${at}.0/24,fd00:201:${at}::/64`,
      gateway: `10.201.${at}.1,fd00:201:${at}::1`,
      excludeIps: [`10.201.${at}.10..10.201.${at}.20`],
      enableDHCP: true,
      enableIPv6RA: true,
      private: true,
      allowSubnets: ['10.202.0.0/16'],
      mtu: 1_400,
      acls: [{ action: 'drop', direction: 'to-lport', match: 'ip4.src == 10.203.0.0/16', priority: 1_005 }],
      dhcpV4Options: 'lease_time=3600,router=10.201.0.1',
    },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'Subnet',
    metadata: { name },
    spec: { cidrBlock: `10.204.${at}.0/24`, gatewayType: 'centralized', gatewayNode: 'n1', namespaces: ['mutants'] },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'IP',
    metadata: { name: `${name}.ground`, annotations: { 'kiln.io/lease': '24h' } },
    spec: { subnet: 'ground-net', podName: name, namespace: 'ground', ipAddress: `10.200.3.${at + 2}`, podType: '' },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'IPPool',
    metadata: { name },
    spec: {
      subnet: 'ground-net',
      ips: [`10.200.5.${at}..10.200.5.${at}`, `10.200.6.${at}`],
      namespaces: ['mutants'],
      enableAddressSet: true,
    },
  }),
  (name, at) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ground',
      annotations: {
        'ovn.kubernetes.io/ip_address': `10.200.7.${at + 2}`,
        'ovn.kubernetes.io/mac_address': `00:00:00:00:07:${at.toString(16).padStart(2, '0')}`,
        'ovn.kubernetes.io/logical_switch': 'ground-net',
        'ovn.kubernetes.io/ip_pool': `10.200.8.${at + 2},10.200.8.${at + 3}`,
        'ovn.kubernetes.io/ingress_rate': '10',
        'k8s.v1.cni.cncf.io/networks': '[{"name":"ground","namespace":"ground","interface":"net1"}]',
      },
    },
    spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox' }] },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'Vip',
    metadata: { name, annotations: { 'kiln.io/lease': '24h' } },
    spec: { subnet: 'ground-net', namespace: 'ground', selector: ['app:web'], v4ip: `10.200.9.${at + 2}`, type: '' },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'OvnEip',
    metadata: { name },
    spec: {
      externalSubnet: 'ground-net',
      type: 'nat',
      v4Ip: `10.200.10.${at + 2}`,
      macAddress: `00:00:00:00:0a:${at.toString(16).padStart(2, '0')}`,
    },
  }),
  (name, at) => ({
    ...NETWORK,
    kind: 'IptablesEIP',
    metadata: { name },
    spec: { externalSubnet: 'ground-net', natGwDp: 'ground', v4ip: `10.200.11.${at + 2}`, qosPolicy: 'slow' },
  }),
  (name) => ({ ...NETWORK, kind: 'OvnFip', metadata: { name }, spec: { ovnEip: 'ground', ipName: 'first.served', ipType: '' } }),
  (name) => ({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { name, namespace: 'ground' },
    spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"ground.ground.ovn"}' },
  }),
  (name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, annotations: { 'kiln.io/await-subnet': 'true', 'kiln.io/misbound': 'report' } },
  }),
];

/** One valid object, under a name of its own. */
export function manifest(choice: number, name: string, at: number): Manifest {
  const all = [
    ...SOUND,
    ...given().map(
      (one) =>
        (own: string): Manifest =>
          renamed(one, own),
    ),
  ];
  const make = all[choice % all.length] as (typeof SOUND)[number];
  return make(name, at);
}

function renamed(one: Manifest, name: string): Manifest {
  const namespace = one.kind === 'Pod' || one.kind === 'NetworkAttachmentDefinition' ? { namespace: 'ground' } : {};
  const { apiVersion, kind, metadata, spec } = one;
  return { apiVersion, kind, metadata: { name, ...namespace, annotations: metadata.annotations ?? {} }, spec };
}

const KINDS: ReadonlySet<string> = new Set(['Vpc', 'Subnet', 'IP', 'IPPool', 'Pod', 'NetworkAttachmentDefinition']);
let read: readonly Manifest[] | undefined;

function given(): readonly Manifest[] {
  const folder = process.env['MANIFESTS'];
  read ??=
    folder === undefined
      ? []
      : readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((file) => /\.ya?ml$/.test(file))
          .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), 'utf8')))
          .map((document) => document.toJS() as Partial<Manifest> | null)
          .filter((one): one is Manifest => KINDS.has(one?.kind ?? '') && one?.metadata?.name !== undefined);
  return read;
}
