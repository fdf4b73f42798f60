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
      'src/agent/kubernetes-target.ts': 'subnet subnets pods nodes',
      'src/agent/rules/egress-routing.ts': 'subnets pods nodes',
      'src/agent/rules/node-bridge.ts': 'nodes',
      'src/agent/rules/node-interface.ts': 'subnets nodes',
      'src/agent/rules/outgoing-nat.ts': 'subnets',
      'src/agent/rules/pod-interface.ts': 'subnets pods',
      'src/agent/world/node-world.ts': 'subnets pods nodes',
    },
  },
  {
    why: 'Which annotation and which condition is on which kinds: the reference of the API, in two tables.',
    files: {
      'src/api/annotations.ts': 'vpcs subnets ips pods namespaces nodes services networkpolicies ovn-eips',
      'src/api/condition-types.ts': 'vpcs subnets pods',
    },
  },
  {
    why: 'Addresses: pods, nodes, IP objects, Vips and EIPs share one ledger, and what it records is checked across all of them.',
    files: {
      'src/allocate/allocation-step.ts': 'subnet',
      'src/allocate/foreign-port-holders.ts': 'subnets ovn-eips vips',
      'src/allocate/holders.ts': 'pod ips pods',
      'src/commit/required-objects.ts': 'ips',
      'src/invariants/address-holders.ts': 'pod ips pods',
      'src/invariants/owned-rows.ts': 'vpcs subnets ips',
      'src/invariants/shared-addresses.ts': 'subnets ips pods',
      'src/ipam/subnet-spec.ts': 'ippools',
      'src/world/claimants.ts': 'ips statefulsets virtualmachines',
    },
  },
  {
    why: 'Views of Subnets and Vpcs, and selections of pods, that rules of many kinds read; the objects that every cluster has.',
    files: {
      'src/compile/global-options.ts': 'vpcs',
      'src/explain/status.ts': 'vpcs subnets namespaces',
      'src/world/built-in.ts': 'vpcs subnets',
      'src/world/intent.ts': 'vpcs subnets',
      'src/world/selections/selection.ts': 'pods namespaces',
      'src/world/subnet-vpcs.ts': 'subnets',
    },
  },
  {
    why: 'What Kube-OVN left of features that are not implemented, found by what it served.',
    files: {
      'src/compile/leftover-rows.ts': 'pod subnet vpc node vpcs subnets pods nodes',
      'src/compile/leftover-translation.ts': 'pod pods ovn-fips ovn-snat-rules',
      'src/explain/leftover-vips.ts': 'vpc vips',
      'src/explain/leftovers.ts': 'vips',
    },
  },
  {
    why: 'Address sets of IPPools have names that users write into matches of any kind.',
    files: {
      'src/compile/ineffective-names.ts': 'ip ips ippools',
    },
  },
  {
    why: 'A start among very many IP objects and pods: what must be seen first, and what can be computed meanwhile.',
    files: {
      'src/controller/controller.ts': 'ips',
      'src/controller/leadership/catch-up.ts': 'ips pods',
      'src/controller/reading/caches.ts': 'ips nodes',
      'src/controller/start/early-rules.ts': 'pod ip ips',
    },
  },
  {
    why: 'Only pods are evicted; the API server and webhooks have that from Kubernetes.',
    files: {
      'src/compile/output.ts': 'pods',
      'src/kube/resource.ts': 'pods',
      'src/webhook/manifests/webhook-configuration.ts': 'pods services',
    },
  },
  {
    why: 'Commands about addresses, and about pods and the workloads that create them.',
    files: {
      'src/cli/addresses/address-to-release.ts': 'ips',
      'src/cli/addresses/ip-users.ts': 'pod subnets ips pods nodes statefulsets virtualmachines',
      'src/cli/addresses/reserved-address.ts': 'subnets ips',
      'src/cli/addresses/vip-or-eip.ts': 'pod pods ovn-eips ovn-fips ovn-snat-rules ovn-dnat-rules vips iptables-eips',
      'src/cli/bundle/bundle-contents.ts': 'ips network-attachment-definitions',
      'src/cli/commands/bundle.ts': 'pods',
      'src/cli/commands/delete.ts': 'ippools pods namespaces',
      'src/cli/commands/reserve.ts': 'subnets ips namespaces',
      'src/cli/commands/status.ts': 'vpcs namespaces',
      'src/cli/deletion/cascade-remainder.ts': 'ips pods',
      'src/cli/deletion/cascade-run.ts': 'subnets',
      'src/cli/deletion/workload-owner.ts': 'statefulsets virtualmachines virtualmachineinstances',
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
