/**
 * Every reason of a condition, an Event or a denial, with its meaning and the next step: a closed list. To use a new reason, add a line.
 * The reference page is generated from it.
 */
export interface ReasonText {
  readonly means: string;
  /** Empty if there is nothing to do. */
  readonly next: string;
}

const mend = (field: string): string => `mend ${field}; the message names the value and the rule`;
const breach = (where: string): ReasonText => ({
  means: `a rule is broken by ${where}`,
  next: 'mend it; the message names the value and the rule',
});

export const REASONS = {
  // Good states.
  Accepted: { means: 'the spec is sound and nothing conflicts with it', next: '' },
  Bound: { means: 'all interfaces of the pod have their addresses', next: '' },
  PodNetworkAllocated: { means: "the pod's annotations have its addresses", next: '' },
  RouterReady: { means: 'the logical router of the Vpc is in place', next: '' },
  ValidateLogicalSwitchSuccess: { means: 'the Subnet was judged and is sound', next: '' },
  SetNonOvnSubnetSuccess: { means: 'the Subnet gives addresses to networks of others; it has no switch', next: '' },
  SetPrivateLogicalSwitchSuccess: { means: 'the private Subnet is in place with its ACLs', next: '' },
  ResetLogicalSwitchAclSuccess: { means: 'the Subnet is in place, open to others', next: '' },
  ReconcileCentralizedGatewaySuccess: { means: 'the Subnet is in place, with its centralized gateway', next: '' },
  UpdateIPAMSucceeded: { means: 'the pool gives out addresses', next: '' },
  Repaired: { means: 'Kiln repaired a row that another program had changed', next: '' },
  DeletionUnblocked: { means: 'nothing holds the object any more; it goes', next: '' },
  MisboundEvicted: { means: 'policy evict: the pod was evicted so that its owner makes one in the right Subnet', next: '' },
  LeaseRuns: { means: 'nothing uses the address and its lease runs', next: 'nothing, use it, or change annotation kiln.io/lease' },
  LeaseEnded: { means: 'nothing used the address during its lease, so it was given back', next: 'reserve it again' },

  // Pending states.
  RouterPending: { means: 'the logical router is not there yet', next: 'wait; while it lasts, see the log' },
  RouterPortPending: {
    means: "the Vpc's router has no port to the Subnet yet, or somebody took it away while its spec is refused",
    next: 'see the Vpc, or mend the spec',
  },
  SwitchPending: { means: 'the logical switch is not there yet', next: 'wait; while it lasts, see the log' },
  SubnetPending: { means: 'the Subnet has no switch in OVN yet', next: 'see the Subnet' },
  SubnetTerminating: { means: 'the Subnet is being deleted and takes nobody new', next: 'choose another Subnet' },
  EipTerminating: { means: 'the EIP is being deleted and takes no new rule', next: 'name another EIP' },
  VpcTerminating: { means: 'the Vpc is being deleted and takes nothing new', next: 'choose another Vpc' },
  WaitingForSubnet: { means: 'the Subnet is not there or not ready', next: 'kubectl describe subnet' },
  WaitingForNetwork: {
    means: 'a NetworkAttachmentDefinition that the pod is attached to does not exist',
    next: 'make it, or mend annotation k8s.v1.cni.cncf.io/networks',
  },
  ReservedElsewhere: {
    means: 'an IP object has the name of the port and is kept for somebody else, or in another Subnet',
    next: 'delete that IP object, or name its Subnet in the pod',
  },
  WaitingForIPPool: {
    means: 'the IPPool that the pod, or its namespace, names is not there, not bound to that, or going away',
    next: 'kubectl describe ippool',
  },
  NameTaken: {
    means: "the port of the pod would have the name of a node's port or a router's, which go first",
    next: 'make the pod with another name',
  },
  NodesOnly: {
    means: 'the join Subnet has addresses for nodes alone, whoever else asks for one by whichever annotation or object',
    next: 'name another Subnet',
  },
  IPRefused: {
    means:
      'the API server refuses to make or to complete the IP object: a policy, a webhook that does not answer, rights; no address is kept meanwhile',
    next: 'mend what the message names; it is tried again by itself within half a minute',
  },
  WriteRefused: {
    means: 'the API server refuses what Kiln writes into the object: a policy, a webhook that does not answer, rights',
    next: 'mend what the message names; it is tried again by itself within half a minute',
  },
  WaitingForVip: { means: 'the Vip that the pod names is not there or has no address', next: 'kubectl describe vip' },
  DeletionBlocked: {
    means: 'it is being deleted and something still uses it',
    next: 'delete what the message names, or wait; kiln explain shows the tree',
  },
  NeededByCluster: {
    means: 'it is being deleted, and the cluster needs it: it keeps serving and accepts new dependents while there are nodes',
    next: 'nothing: it goes when all in it and the last node have gone, and is made again',
  },

  // Effects of other objects or programs.
  Drifted: {
    means: 'another program changed, deleted or added a row of this object; Kiln repairs it',
    next: 'when it repeats, find that program',
  },
  Conflict: { means: 'a row it needs belongs to another object or program', next: 'rename one of the two, or remove the other row' },
  RowConflict: { means: 'a row it needs belongs to another object or program', next: 'rename one of the two, or remove the other row' },
  AddressConflict: { means: 'the address or MAC is held by another', next: 'delete the object or pod that should not have it' },
  HeldTwice: { means: 'two hold one address', next: 'delete the object or pod that should not have it; the other is served at once' },
  NamespaceNotAdmitted: {
    means:
      "the IPPool, or an address of one, that a pod or an object for it asks for is another namespace's; with `--tenancy=namespaced` also the Subnet, its Vpc or the attached network",
    next: 'name one of the namespace, or have an administrator admit it: spec.namespaces of the IPPool or the Subnet, or annotation kiln.io/admit-namespaces of the Subnet',
  },
  PortNotAllowed: {
    means:
      "an annotation of a pod asks for what a port may not have: security off, frames for any address, another's address, a router or DHCP server of its own (`--tenancy=namespaced`)",
    next: 'take the annotation back; for what the Subnet may allow the message names the annotation of the Subnet',
  },
  Misbound: {
    means: 'the pod runs on another Subnet than its namespace has now, or outside of the IPPools that are bound to it',
    next: 'delete the pod, or choose policy rebind or evict',
  },
  AddressKept: {
    means: 'an annotation of a bound pod requests another address; a running pod keeps its address',
    next: 'delete the pod, so that the one after it is given the other, or take the annotation back',
  },

  // Failures: something is not available.
  NoSubnet: { means: 'the Subnet to take an address from does not exist, or its spec is invalid', next: 'kubectl get subnets' },
  NoAvailableAddress: { means: 'every address that may be given is in use', next: 'free some, or widen the Subnet' },
  AddressOutOfRange: { means: 'the address asked for is not in the Subnet, or never given out', next: 'ask for another' },
  InvalidIPFamily: { means: 'the Subnet has no address of the family asked for', next: 'ask for one it has' },
  NoActiveGatewayFound: {
    means: 'none of the gateway nodes of a centralized Subnet is ready with an address of its family in the join Subnet',
    next: 'kubectl get nodes',
  },
  UpdateIPAMFailed: { means: 'the pool cannot be used as it is', next: 'mend the IPPool' },
  NotFound: { means: 'what it refers to does not exist', next: 'make it, or mend the reference' },
  Peered: { means: 'each Vpc that the Vpc peers with names it back, and the two ends fit', next: '' },
  PeerMissing: {
    means: 'a Vpc that is named as a peer does not exist, or does not name this one',
    next: 'make the other Vpc, or add the peering there',
  },
  PeeringMismatch: {
    means: 'the two ends of a peering are in different networks or have one address; no packet passes',
    next: 'give both ends different addresses in one network',
  },
  PeerLacksNetwork: {
    means: 'a route leads over a peering to a network that the remote Vpc neither has nor routes',
    next: 'make the Subnet there, or correct the route',
  },
  AddressSetMissing: {
    means: 'a match names an address set of OVN that does not exist; no packet meets it',
    next: 'make it, or mend the match',
  },
  PortGroupMissing: {
    means: 'a match names a port group of OVN that does not exist; no packet meets it',
    next: 'make it, or mend the match',
  },
  NextHopUnreachable: {
    means: 'the next hop of a route lies in no network of the Vpc; OVN leaves the route out',
    next: 'make the Subnet or the peering that has it, or mend the route',
  },
  PeeringOverlaps: {
    means:
      'the network of a link to another Vpc is that of a Subnet or of another link in the same Vpc too; the router sends traffic for it through one of them',
    next: 'give the link a network of its own',
  },
  RouteShared: {
    means:
      'another program has a route of the same prefix in the same router; OVN takes both as one route and sends a part of the traffic by each',
    next: 'remove the one that should not be: ovn-nbctl lr-route-list, lr-route-del',
  },
  AddressesOfOthers: {
    means: "ports of other programs in the Subnet's switch have addresses of it; they are given to nobody while that is so",
    next: 'remove the ports that should not be: ovn-nbctl lsp-del; or put the addresses of those that stay into spec.excludeIps',
  },
  ExcludeOutside: {
    means: 'an item of spec.excludeIps lies in no network of the Subnet; it keeps nothing back',
    next: 'mend it, or take it out',
  },
  ProviderImpossible: { means: 'spec.provider of the Subnet is a text that no network can have', next: 'mend it' },
  SelectorImpossible: { means: 'a selector asks for a label that no object can have; it matches nothing', next: 'mend it' },
  PoolNeverGiven: {
    means: 'no address of the IPPool is ever given: they are gateways, excluded, or the first or last of their network',
    next: 'put others into spec.ips',
  },
  NodeAddressInvalid: { means: 'an InternalIP of the node is no address', next: 'mend what its kubelet states: kubectl describe node' },
  NodeAddressTaken: {
    means: 'two nodes have one InternalIP; traffic of pods to it goes to the older node',
    next: 'mend what one of the kubelets states: kubectl get nodes -o wide',
  },
  NodeNameTaken: {
    means:
      'the names of two nodes differ in `-` and `.` alone; in OVN they have the same port groups, and traffic of both leaves through one',
    next: 'add one of them under another name',
  },
  NamespaceOfAnotherVpc: {
    means: 'a Subnet or Vpc lists a namespace whose pods are in the network of another Vpc, which comes first',
    next: 'take the namespace out of one of the two lists',
  },
  NamespaceMissing: {
    means: 'spec.namespaces names a namespace that does not exist; it is bound as soon as it does',
    next: 'make it, or mend the list',
  },
  NeedsAnotherField: { means: 'a field of the spec does nothing without another one', next: 'set that one too, or take the field out' },
  SubnetNeverGiven: {
    means: 'spec.excludeIps leaves no address of the Subnet that is given without being asked for by name',
    next: 'take some out, or widen spec.cidrBlock',
  },
  JoinHasNoPods: {
    means: 'the join Subnet claims namespaces, and has no pods; new pods of those namespaces wait',
    next: 'take them out of it',
  },
  JoinLacksFamily: {
    means: 'a network of the Subnet is of a family that the join Subnet lacks; no traffic of it leaves by a node, or comes from one',
    next: 'give the join Subnet a network of that family, or the Subnet another',
  },
  OverlapsServices: {
    means: 'a Subnet of the default Vpc overlaps the network of Services; of an address in both the pod or the Service is not reached',
    next: 'move the pods to a Subnet apart from it',
  },
  NetworkMissing: {
    means: 'spec.provider of the Subnet names a NetworkAttachmentDefinition that does not exist, or that asks for another provider',
    next: 'make it, or mend spec.provider',
  },
  NamespaceImpossible: { means: 'spec.namespaces has a name that no namespace can have', next: 'mend it' },
  VpcMissing: { means: 'the Vpc does not exist', next: 'make it again, or delete the Subnet' },

  // Features that are not implemented.
  NotCarriedOut: { means: 'Kiln does not carry out this kind or feature yet', next: 'do not rely on it' },
  UnsupportedField: { means: 'Kiln does not carry out this field yet', next: 'do not rely on it' },

  // Broken rules.
  Invalid: { means: 'the spec breaks a rule', next: mend('the field that the message names') },
  Immutable: { means: 'the field cannot change once it is set', next: 'put it back, or make a new object' },
  ValidateLogicalSwitchFailed: { means: 'the Subnet breaks a rule', next: mend('the field that the message names') },
  FieldCorrected: {
    means:
      'spec.protocol or spec.default of a Subnet, an annotation of a Namespace that says its Subnets or IPPools, or of a Pod that says its address, was wrong; Kiln corrects it',
    next: 'nothing, or make the Subnet that you meant, or name the namespace in it, or delete the pod and make it with the address you meant',
  },
  HostBitsCleared: {
    means: 'where a network belongs, an address inside of one is written; the network is taken',
    next: 'check that it is the network you meant',
  },
  InvalidAnnotation: { means: 'an annotation cannot be read or does not fit', next: 'mend the annotation that the message names' },
  InvalidNetwork: { means: 'the spec.config of a NetworkAttachmentDefinition, or a field of it, cannot be read', next: 'mend it' },
  LeaseInvalid: { means: 'annotation kiln.io/lease is not a duration; the address is kept', next: 'write 24h, 90m or 7d' },
  NameInvalid: { means: 'the name of the IP object is not one that a reservation may have', next: 'make it under another name' },
  CidrInUse: { means: 'the CIDR was changed and addresses outside of the new one are in use', next: 'free those, or put it back' },

  // One for each validation rule, here and in the admission webhook.
  IPAddressInvalid: breach('the addresses of the IP object'),
  IPFieldImmutable: {
    means: 'an edit changes a field of the IP object that cannot change once it is set',
    next: 'put it back, or make a new object',
  },
  IPMacInvalid: breach('spec.macAddress of the IP object'),
  IPNameMismatch: breach('the name of the IP object, against the pod in its spec'),
  IPPodTypeInvalid: breach('spec.podType of the IP object'),
  IPPoolIpsInvalid: breach('spec.ips of the IPPool'),
  IPPoolOverlap: breach('spec.ips of the IPPool: another pool has some of them'),
  IPPoolSubnetImmutable: {
    means: 'an edit changes spec.subnet of an IPPool that cannot change once it is set',
    next: 'put it back, or make a new object',
  },
  IPPoolSubnetMissing: breach('spec.subnet of the IPPool'),
  IPSubnetMissing: breach('spec.subnet of the IP object'),
  IptablesEIPAddressInvalid: breach('the addresses of the IptablesEIP'),
  IptablesEIPMacInvalid: breach('spec.macAddress of the IptablesEIP'),
  OvnEipAddressInvalid: breach('the addresses of the OvnEip'),
  OvnEipMacInvalid: breach('spec.macAddress of the OvnEip'),
  OvnEipTypeInvalid: breach('spec.type of the OvnEip'),
  PodDhcpOptionsInvalid: breach('the DHCP options in the annotations'),
  PodIpAddressInvalid: breach('annotation ip_address'),
  PodIpFamilyInvalid: breach('annotation ip_family'),
  PodIpPoolInvalid: breach('annotation ip_pool'),
  PodMacAddressInvalid: breach('annotation mac_address'),
  PodNicTypeInvalid: breach('annotation pod_nic_type'),
  PodPortVipsInvalid: breach('annotation port_vips'),
  PodQosInvalid: breach('an annotation of latency, limit, loss or jitter'),
  PodRateInvalid: breach('annotation ingress_rate or egress_rate'),
  PodRoutesInvalid: breach('annotation routes'),
  PodSecurityGroupsInvalid: breach('annotation security_groups'),
  PodSwitchInvalid: breach('annotation logical_switch'),
  SubnetAclInvalid: breach('spec.acls'),
  SubnetAllowSubnetsInvalid: breach('spec.allowSubnets'),
  SubnetCidrComesOrGoes: breach('spec.cidrBlock: it can be neither added nor taken away'),
  SubnetCidrInvalid: breach('spec.cidrBlock'),
  SubnetCidrOverlap: breach('spec.cidrBlock: another Subnet of the Vpc has some of it'),
  SubnetExcludeIpsInvalid: breach('spec.excludeIps'),
  SubnetExternalEgressGatewayInvalid: breach('spec.externalEgressGateway'),
  SubnetGatewayInUse: breach('spec.gateway: the address is in use'),
  SubnetGatewayInvalid: breach('spec.gateway'),
  SubnetGatewayNodeInvalid: breach('spec.gatewayNode'),
  SubnetGatewayTypeInvalid: breach('spec.gatewayType'),
  SubnetHoldsApiServer: breach('spec.cidrBlock: the API server has an address in it'),
  SubnetHoldsNode: breach('spec.cidrBlock: a node has an address in it'),
  SubnetMacOnlyWithAddresses: breach('spec.protocol Mac beside addresses'),
  SubnetMtuInvalid: breach('spec.mtu'),
  SubnetNameTooLong: breach('the name of the Subnet'),
  SubnetNamedAsVpc: breach('the name of the Subnet: a Vpc has it'),
  SubnetNamespaceNotOfVpc: breach('spec.namespaces: one is not of the Vpc'),
  SubnetNatOutgoingPolicyRuleInvalid: breach('spec.natOutgoingPolicyRules'),
  SubnetOptionsInvalid: breach('spec.dhcpV4Options, spec.dhcpV6Options or spec.ipv6RAConfigs'),
  SubnetOverlayOnlyWithoutU2o: breach('spec.u2oInterconnection'),
  SubnetProtocolInvalid: breach('spec.protocol'),
  SubnetProviderChanged: {
    means: 'an edit changes spec.provider of a Subnet whose network runs',
    next: 'put it back, or make a new object',
  },
  SubnetRoutingTableTaken: breach('spec.policyRoutingTableID: another Subnet has it'),
  SubnetSelectorInvalid: breach('spec.namespaceSelectors'),
  SubnetU2oIpInvalid: breach('spec.u2oInterconnectionIP'),
  SubnetU2oWithLogicalGateway: breach('spec.u2oInterconnection beside logicalGateway'),
  SubnetVipInvalid: breach('spec.vips'),
  SubnetVpcChanged: { means: 'an edit changes spec.vpc of a Subnet, which cannot move', next: 'put it back, or make a new object' },
  VipAddressInvalid: breach('the addresses of the Vip'),
  VipMacInvalid: breach('spec.macAddress of the Vip'),
  VipSelectorInvalid: breach('spec.selector of the Vip'),
  VipSubnetMissing: breach('spec.subnet of the Vip'),
  VipTypeInvalid: breach('spec.type of the Vip'),
  VpcBfdPortInvalid: breach('spec.bfdPort'),
  VpcNamedAsSubnet: breach('the name of the Vpc: a Subnet has it'),
  VpcPeeringInvalid: breach('spec.vpcPeerings'),
  VpcPolicyRouteInvalid: breach('spec.policyRoutes'),
  VpcStaticRouteInvalid: breach('spec.staticRoutes'),
} as const satisfies Readonly<Record<string, ReasonText>>;

export type Reason = keyof typeof REASONS;
