/** Product files outside of the kinds' folders that name a kind. */
interface Exception {
  readonly why: string;
  /** By path, the kinds (by plural name) and folders of rules that the file names. */
  readonly files: Readonly<Record<string, string>>;
}

/** The list only shrinks: what all kinds have belongs into the kind's record, and what one kind has into its folder. */
const EXCEPTIONS: readonly Exception[] = [
  {
    why: 'A node agent has tables of its own: of pods of one node, for example.',
    files: {
      'src/agent/kubernetes-target.ts': 'subnet subnets vlans provider-networks pods nodes',
      'src/agent/rules/egress-routing.ts': 'subnets pods nodes',
      'src/agent/rules/interface-mtu.ts': 'nodes',
      'src/agent/node-condition-target.ts': 'nodes',
      'src/agent/rules/node-bridge.ts': 'nodes',
      'src/agent/rules/node-condition.ts': 'nodes',
      'src/agent/rules/node-interface.ts': 'subnets nodes',
      'src/agent/rules/outgoing-nat.ts': 'subnets',
      'src/agent/rules/pod-interface.ts': 'nodes pods subnets',
      'src/agent/rules/pod-underlay.ts': 'subnets vlans provider-networks nodes',
      'src/agent/rules/provider-networks.ts': 'vlans provider-networks nodes',
      'src/agent/world/node-world.ts': 'nodes pods provider-networks subnets vlans',
      'src/agent/world/outputs.ts': 'provider-networks',
      'src/agent/world/provider-network.ts': 'provider-networks',
    },
  },
  {
    why: 'Which annotation and which condition is on which kinds: the reference of the API, in two tables.',
    files: {
      'src/api/annotations.ts': 'vpcs subnets ips pods namespaces nodes services networkpolicies ovn-eips',
      'src/api/condition-types.ts': 'vpcs subnets pods ovn-eips',
    },
  },
  {
    why: 'Addresses: pods, nodes, IP objects, Vips and EIPs share one ledger, and what it records is checked across all of them.',
    files: {
      'src/allocate/foreign-port-holders.ts': 'subnets vips ovn-eips',
      'src/allocate/holders.ts': 'pod ips pods',
      'src/commit/required-objects.ts': 'ips',
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
      'src/world/subnet-vpcs.ts': 'subnets',
    },
  },
  {
    why: 'What Kube-OVN left of features that are not implemented, found by what it served.',
    files: {
      'src/compile/leftover-rows.ts': 'pod subnet vpc node vip-eip nat vpcs subnets pods nodes',
    },
  },
  {
    why: 'Address sets of IPPools have names that users write into matches of any kind.',
    files: {
      'src/compile/ineffective-names.ts': 'ip ips ippools',
    },
  },
  {
    why: 'A start among very many pods: while the list of IP objects is still read, their rules run for those that came.',
    files: {
      'src/controller/start/early-rules.ts': 'pod ip ips',
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
      'src/cli/commands/status.ts': 'vpcs namespaces',
      'src/cli/deletion/cascade-remainder.ts': 'ips pods',
      'src/cli/deletion/cascade-run.ts': 'subnets',
      'src/explain/cascade.ts': 'subnets ips ippools pods namespaces',
      'src/explain/workload.ts': 'ips pods statefulsets',
    },
  },
  {
    why: 'The demonstration of the laboratory makes one network.',
    files: {
      'src/cli/laboratory/demo.ts': 'vpcs subnets ips pods namespaces',
    },
  },
];

export const ALLOWED_NAMES: Readonly<Record<string, string>> = Object.fromEntries(EXCEPTIONS.flatMap(({ files }) => Object.entries(files)));
