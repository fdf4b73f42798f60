/** Product files outside of the kinds' folders that name a kind. */
interface Exception {
  readonly why: string;
  /** By path, the kinds (by plural name) and folders of rules that the file names. */
  readonly files: Readonly<Record<string, string>>;
}

/** The list only shrinks: what all kinds have belongs into the kind's record, and what one kind has into its folder. */
const EXCEPTIONS: readonly Exception[] = [
  {
    why: 'Which annotation and which condition is on which kinds: the reference of the API, in two tables.',
    files: {
      'src/api/annotations.ts': 'vpcs subnets ips pods namespaces nodes services networkpolicies ovn-eips ovn-snat-rules',
      'src/api/condition-types.ts': 'vpcs subnets pods ovn-eips vlans',
    },
  },
  {
    why: 'Addresses: pods, nodes, IP objects, Vips and EIPs share one ledger, and what it records is checked across all of them.',
    files: {
      'src/allocate/foreign-port-holders.ts': 'subnets vips ovn-eips',
      'src/allocate/holders.ts': 'pod ips pods',
      'src/allocate/node-address-holders.ts': 'subnets nodes',
      'src/invariants/address-holders.ts': 'pod ips pods',
      'src/invariants/owned-rows.ts': 'vpcs subnets ips',
      'src/world/claimants.ts': 'ips statefulsets virtualmachines',
    },
  },
  {
    why: 'Views of Subnets and Vpcs, and selections of pods, that rules of many kinds read.',
    files: {
      'src/explain/status.ts': 'vpcs subnets namespaces',
      'src/world/intent.ts': 'vpcs subnets',
      'src/world/selections/selection.ts': 'pods namespaces',
    },
  },
  {
    why: 'The collection can be off for a Vpc or a Namespace, and a row shows its Vpc by the Subnet of its switch.',
    files: {
      'src/diff/collection-policy.ts': 'vpcs subnets namespaces',
    },
  },
  {
    why: 'What Kube-OVN left of features that are not implemented, found by what it served.',
    files: {
      'src/compile/leftover-rows.ts': 'pod subnet vpc node vip-eip nat vpcs subnets pods nodes',
      'src/explain/leftover-vips.ts': 'services',
    },
  },
  {
    why: "The program of OVN's central part, which has no kinds, keeps its record in a ConfigMap of its own.",
    files: {
      'src/central/cluster-record.ts': 'configmaps',
    },
  },
  {
    why: 'Programs of all parts read pods; the webhook reports webhooks of others that block every pod.',
    files: {
      'src/kube/resource.ts': 'pods',
      'src/webhook/manifests/webhook-configuration.ts': 'pods services',
    },
  },
  {
    why: 'Commands that go through objects of several kinds: what a cascade deletes, what creates pods, what an archive may contain.',
    files: {
      'src/cli/bundle/bundle-contents.ts': 'ips network-attachment-definitions',
      'src/cli/commands/delete.ts': 'ippools pods namespaces',
      'src/cli/deletion/cascade-remainder.ts': 'ips pods',
      'src/explain/cascade.ts': 'subnets ips ippools pods namespaces',
      'src/explain/workload.ts': 'ips pods statefulsets',
    },
  },
  {
    why: 'The demonstration of the laboratory makes networks, and its check proves them.',
    files: {
      'src/cli/laboratory/demo.ts': 'vpcs subnets ips pods namespaces',
      'src/cli/laboratory/external-proofs.ts': 'vpcs nodes',
      'src/cli/laboratory/external-tenant.ts': 'namespaces nodes vlans provider-networks ovn-eips ovn-fips ovn-snat-rules ovn-dnat-rules',
    },
  },
];

export const ALLOWED_NAMES: Readonly<Record<string, string>> = Object.fromEntries(EXCEPTIONS.flatMap(({ files }) => Object.entries(files)));
