/**
 * Every reason of a condition, an Event or a denial, with its meaning and the next step: a closed list. To use a new reason, add a line.
 * The reference page is generated from it. The file is long since it is this one table: a line for each reason.
 */
export interface ReasonText {
  readonly means: string;
  /** Empty if there is nothing to do. */
  readonly next: string;
}

const correct = (field: string): string => `correct ${field}; the message names the value and the rule`;
const breach = (where: string): ReasonText => ({
  means: `a rule is broken by ${where}`,
  next: 'correct it; the message names the value and the rule',
});

export const REASONS = {
  // Good states.
  Accepted: { means: 'the spec is valid and nothing conflicts with it', next: '' },
  Bound: { means: 'all interfaces of the pod have their addresses', next: '' },
  PodNetworkAllocated: { means: "the pod's annotations have its addresses", next: '' },
  PodNetworkUpdated: { means: 'an interface was removed from a running pod, or an interface in use has its routes now', next: '' },
  PodNetworkReleased: {
    means: 'an address of the pod is free again: the pod is gone, has ended, or no longer has the interface',
    next: '',
  },
  SubnetGatewayTypeChanged: { means: 'spec.gatewayType of the Subnet was changed', next: '' },
  SubnetGatewayNodeChanged: { means: 'spec.gatewayNode of the Subnet was changed', next: '' },
  RouterReady: { means: 'the logical router of the Vpc is in place', next: '' },
  ValidateLogicalSwitchSuccess: { means: 'the spec of the Subnet is valid', next: '' },
  SetNonOvnSubnetSuccess: { means: 'the Subnet allocates addresses for networks of other plugins; it has no switch', next: '' },
  SetPrivateLogicalSwitchSuccess: { means: 'the private Subnet is in place with its ACLs', next: '' },
  ResetLogicalSwitchAclSuccess: { means: 'the Subnet is in place; other Subnets reach it', next: '' },
  ReconcileCentralizedGatewaySuccess: { means: 'the Subnet is in place, with its centralized gateway', next: '' },
  UpdateIPAMSucceeded: { means: 'the pool is in use for allocations', next: '' },
  Init: { means: 'condition Error of a Subnet without errors, as Kube-OVN has it', next: '' },
  Repaired: { means: 'Kiln repaired a row that another program had changed', next: '' },
  CollectionResumed: { means: 'a hold or a pause of the collection is over, and rows that nothing explains are collected', next: '' },
  CollectionPaused: {
    means: 'a user paused the collection of rows that nothing explains: annotation kiln.io/gc-pause',
    next: 'kiln gc resume',
  },
  JournalResumed: { means: 'the journal can be written again, and deletions go on', next: '' },
  DeletionUnblocked: { means: 'the object has no blockers any more and is deleted', next: '' },
  MisboundEvicted: { means: 'policy evict: the pod was evicted so that its owner creates one in the right Subnet', next: '' },
  LeaseRuns: { means: 'nothing uses the address and its lease runs', next: 'nothing, use it, or change annotation kiln.io/lease' },
  GlobalOptionKept: {
    means: 'another program set an option of NB_Global to another value than Kiln would; Kiln never changes it',
    next: 'nothing, or remove the option so that Kiln sets it; the message has the command',
  },
  CauseGone: {
    means:
      'what Kiln made the object from is gone, such as the switch of another program; the object is deleted unless that comes back in time (--absence-grace)',
    next: 'nothing, or delete the object at once; the message has the command',
  },
  KeptWithoutCause: {
    means: 'what Kiln made the object from is gone, and what a user has set on it, or what uses it, keeps the object',
    next: 'nothing, or delete it or what uses it; the message names these',
  },
  LeaseEnded: {
    means: 'nothing used the address during its lease, so Kiln deleted the object and the address is free',
    next: 'reserve it again',
  },

  ExternalConnected: { means: 'the router of the Vpc has a port in each external Subnet that it requests', next: '' },
  BfdInPlace: { means: 'the BFD sessions of the Vpc are in OVN', next: '' },
  UsedByRules: { means: 'NAT rules use the EIP', next: '' },
  Translated: { means: 'the rows of the NAT rule are in OVN, and the router has its external port', next: '' },

  // Pending states.
  ExternalPending: { means: 'the router has no port in the external Subnet yet', next: 'wait; if it lasts, see the Vpc and the log' },
  BfdPending: { means: 'BFD sessions of the Vpc are not in OVN yet', next: 'wait; if it lasts, see the condition External of the Vpc' },
  BfdDown: {
    means: 'OVN reports BFD sessions of the Vpc as down: it sends nothing to their next hops',
    next: 'see that the other side answers BFD: the gateway, the next hop of the route, or the OvnEip of the gateway node; ovn-nbctl list BFD',
  },
  EipPending: { means: 'the EIP that the NAT rule names has no address yet', next: 'see the EIP' },
  RouterPending: { means: 'the logical router does not exist yet', next: 'wait; if it lasts, see the log' },
  RouterPortPending: {
    means: "the Vpc's router has no port to the Subnet yet",
    next: 'wait; if it lasts, see the Vpc and the log',
  },
  LocalnetPending: { means: 'the port of an underlay Subnet into its Vlan does not exist yet', next: 'wait; if it lasts, see the log' },
  SwitchPending: { means: 'the logical switch does not exist yet', next: 'wait; if it lasts, see the log' },
  SubnetTerminating: { means: 'the Subnet is being deleted and accepts no new dependents', next: 'choose another Subnet' },
  EipTerminating: { means: 'the EIP is being deleted and accepts no new rule', next: 'name another EIP' },
  VipTerminating: { means: 'the Vip is being deleted and accepts no new rule', next: 'name another Vip' },
  VpcTerminating: { means: 'the Vpc is being deleted and accepts no new Subnet', next: 'choose another Vpc' },
  WaitingForSubnet: { means: 'the Subnet does not exist or is not ready', next: 'kubectl describe subnet' },
  WaitingForNetwork: {
    means: 'a NetworkAttachmentDefinition that the pod is attached to does not exist',
    next: 'create it, or correct annotation k8s.v1.cni.cncf.io/networks',
  },
  ReservedElsewhere: {
    means: 'an IP object has the name of the port, and belongs to another object or reserves an address of another Subnet',
    next: 'delete that IP object, or name its Subnet in the pod',
  },
  WaitingForIPPool: {
    means: 'the IPPool that the pod, or its namespace, names does not exist, is not bound to the namespace, or is being deleted',
    next: 'kubectl describe ippool',
  },
  NameTaken: {
    means: 'the port of the pod would have the name of a port of a node or router, which take precedence',
    next: 'create the pod with another name',
  },
  NodesOnly: {
    means: 'the join Subnet has addresses for nodes alone; the object requests one of them',
    next: 'name another Subnet',
  },
  IPRefused: {
    means:
      'the API server rejects the creation or a change of the IP object: a policy, a webhook that does not answer, missing rights; no address is reserved meanwhile',
    next: 'correct what the message names; Kiln tries again within half a minute',
  },
  WriteRefused: {
    means: 'the API server rejects what Kiln writes into the object: a policy, a webhook that does not answer, missing rights',
    next: 'correct what the message names; Kiln tries again within half a minute',
  },
  WaitingForVip: { means: 'the Vip that the pod names does not exist or has no address', next: 'kubectl describe vip' },
  DeletionBlocked: {
    means: 'the object is being deleted and other objects still use it',
    next: 'delete what the message names, or wait; kiln explain shows the tree',
  },
  NeededByCluster: {
    means: 'the object is being deleted, and the cluster needs it: it stays in effect and accepts new dependents while there are nodes',
    next: 'nothing: it is deleted after its last dependent and the last node, and Kiln creates it again',
  },

  // Effects of other objects or programs.
  CollectionHeld: {
    means: 'more rows than a limit have no owner in the API server, and nothing saw their deletion; they wait for an approval',
    next: 'check that this is the right cluster, and its data complete: kiln gc plan lists the rows; then kiln gc approve',
  },
  JournalFailed: {
    means: 'the journal of deletions cannot be written, so no row is deleted until it can',
    next: 'free space in its directory, or make it writable; the message has the error',
  },
  Drifted: {
    means: 'another program changed, deleted or added a row of this object; Kiln repairs it',
    next: 'when it repeats, find that program',
  },
  Conflict: {
    means: 'a row that the object needs belongs to another object or program',
    next: 'create one of the two under another name; a row of another program is left alone',
  },
  RowConflict: {
    means: 'a row that the object needs belongs to another object or program',
    next: 'create one of the two under another name; a row of another program is left alone',
  },
  AddressConflict: { means: 'another object holds the address or MAC', next: 'delete the object or pod that should not have it' },
  HeldTwice: {
    means: 'two objects hold one address',
    next: 'delete the object or pod that should not have it; the other one gets it at once',
  },
  NamespaceNotAdmitted: {
    means:
      'the IPPool, or an address of one, that a pod or an object for it requests is for another namespace; with `--tenancy=namespaced` also the Subnet, its Vpc or the attached network',
    next: 'name one for the namespace, or have an administrator admit it: spec.namespaces of the IPPool or the Subnet, or annotation kiln.io/admit-namespaces of the Subnet',
  },
  PortNotAllowed: {
    means:
      'an annotation of a pod requests what its port may not have: no port security, frames for any address, an address of another object, a router or DHCP server of its own (`--tenancy=namespaced`)',
    next: 'remove the annotation; if the Subnet can allow it, the message names the annotation of the Subnet',
  },
  Misbound: {
    means: 'the pod runs on another Subnet than its namespace has now, or outside of the IPPools that are bound to it',
    next: 'delete the pod, or choose policy rebind or evict',
  },
  AddressKept: {
    means: 'an annotation of a bound pod requests another address; a running pod keeps its address',
    next: 'delete the pod, so that the next one gets the other address, or remove the annotation',
  },

  // Events with Kube-OVN's reasons: the message begins with the reason of the condition.
  PodNetworkAllocationFailed: {
    means: 'Event of a pod whose addresses the API server did not let Kiln write; the message begins with the reason of its condition',
    next: 'see the message; kubectl describe pod',
  },
  ChassisConflict: {
    means: 'two nodes have one chassis (system-id): OVN reaches the pods of one of them alone',
    next: 'on the node that was copied: ovs-vsctl set open_vswitch . external_ids:system-id=NAME, and restart ovn-controller',
  },
  NodeAddressConflictWithSubnet: {
    means: 'the InternalIP of the node lies in the CIDR of a Subnet of the default Vpc; that CIDR does not take effect',
    next: 'change spec.cidrBlock of the Subnet',
  },
  AcquireAddressFailed: { means: 'the pod gets no address; the message begins with the cause', next: 'see the condition of the pod' },
  ValidatePodNetworkFailed: { means: 'an annotation of the pod is invalid', next: 'correct the annotation; the message names the value' },
  CreateOVNPortFailed: {
    means: 'the pod has an address, and its port in OVN cannot be created or connected',
    next: 'see the condition of the pod',
  },

  // Failures: something is not available.
  NoSubnet: { means: 'the Subnet of the requested address does not exist, or its spec is invalid', next: 'kubectl get subnets' },
  NoAvailableAddress: { means: 'every address that may be allocated is in use', next: 'free some, or widen the Subnet' },
  AddressOutOfRange: { means: 'the requested address is not in the Subnet, or is never allocated', next: 'request another one' },
  InvalidIPFamily: { means: 'the Subnet has no network of the requested family', next: 'request a family that it has' },
  NoActiveGatewayFound: {
    means: 'none of the gateway nodes of a centralized Subnet is ready with an address of its family in the join Subnet',
    next: 'kubectl get nodes',
  },
  UpdateIPAMFailed: { means: 'spec.ips of the pool is invalid', next: 'correct the IPPool' },
  NotFound: { means: 'an object that it names does not exist', next: 'create it, or correct the reference' },
  Peered: { means: 'each Vpc that the Vpc peers with names it back, and the two ends fit', next: '' },
  PeerMissing: {
    means: 'a Vpc that is named as a peer does not exist, does not name this one, or has no router of Kiln',
    next: 'create the other Vpc, or add the peering there',
  },
  PeeringMismatch: {
    means: 'the two ends of a peering are in different networks or have one address; no packet passes',
    next: 'give both ends different addresses in one network',
  },
  PeerLacksNetwork: {
    means: 'a route or a policy leads over a peering to a network that the remote Vpc neither has nor routes further',
    next: 'create the Subnet there, or correct the route',
  },
  AddressSetMissing: {
    means: 'a match names an address set of OVN that does not exist; no packet matches it',
    next: 'create it, or correct the match',
  },
  AddressSetOtherFamily: {
    means:
      'a match compares a field with an address set of the other family; OVN ignores the whole match while the set has an address that is wider than the field, and else no packet matches it',
    next: 'name the address set that the message has, or compare the field of the other family',
  },
  PortGroupMissing: {
    means: 'a match names a port group of OVN that does not exist; no packet matches it',
    next: 'create it, or correct the match',
  },
  NextHopUnreachable: {
    means: 'the next hop of a route lies in no network of the Vpc; OVN leaves the route out',
    next: 'create the Subnet or the peering that has it, or correct the route',
  },
  NextHopUnanswered: {
    means:
      "the next hop of a route is an address of the Vpc's own router, or in the network of a peering and not the other end; the router drops what the route leads there",
    next: 'name the other end, which the message has, or the address of a pod or gateway',
  },
  PeeringOverlaps: {
    means:
      'the network of a link to another Vpc is also that of a Subnet or of another link in the same Vpc; the router sends traffic for it through one of them',
    next: 'give the link a network of its own',
  },
  RouteShared: {
    means:
      'another program has a route of the same prefix in the same router; OVN takes both as one route and sends a part of the traffic by each',
    next: 'ask the program that made the other (ovn-nbctl lr-route-list), or remove the route from spec.staticRoutes',
  },
  RouteReplaced: {
    means:
      'of static routes of a Vpc for one destination another one is in effect, as the message says: at the take-over it was in OVN alone, or it is the last default route of a Vpc with spec.enableExternal, or this one is for every source',
    next: 'remove the wrong one from spec.staticRoutes',
  },
  AddressesOfOthers: {
    means: "ports of other programs in the Subnet's switch have addresses of the Subnet; Kiln does not allocate these meanwhile",
    next: 'ask the programs that the ports belong to (kiln neighbours -o wide), or add the addresses of those that stay to spec.excludeIps',
  },
  ExcludeOutside: {
    means: 'an item of spec.excludeIps lies in no network of the Subnet; it excludes nothing',
    next: 'correct it, or remove it',
  },
  ProviderImpossible: { means: 'spec.provider of the Subnet cannot be the name of a network', next: 'correct it' },
  SelectorImpossible: { means: 'a selector requires a label that no object can have; it matches nothing', next: 'correct it' },
  PoolNeverGiven: {
    means: 'no address of the IPPool is ever allocated: they are gateways, excluded, or the first or last of their network',
    next: 'add other addresses to spec.ips',
  },
  NodeAddressInvalid: {
    means: 'an InternalIP of the node is no address',
    next: 'correct the address of its kubelet: kubectl describe node',
  },
  NodeAddressTaken: {
    means: 'two nodes have one InternalIP; traffic of pods to it goes to the older node',
    next: 'correct the address of one of the kubelets: kubectl get nodes -o wide',
  },
  NodeNameTaken: {
    means:
      'the names of two nodes differ only in `-` and `.`; in OVN they have the same port groups, and traffic of both leaves through one of them',
    next: 'add one of them under another name',
  },
  NamespaceOfAnotherVpc: {
    means: 'a Subnet or Vpc lists a namespace whose pods are in the network of another Vpc, which takes precedence',
    next: 'remove the namespace from one of the two lists',
  },
  NamespaceMissing: {
    means: 'spec.namespaces names a namespace that does not exist; it is bound as soon as it does',
    next: 'create it, or correct the list',
  },
  NeedsAnotherField: { means: 'a field of the spec has no effect without another one', next: 'set that one too, or remove the field' },
  SwitchNearlyFull: {
    means:
      'nine tenths of the ports that OVN gives keys in one logical switch are in use: 32,767, or 2,047 with tunnels of VXLAN; a pod without a key gets no network',
    next: 'create another Subnet for further pods',
  },
  SubnetNeverGiven: {
    means: 'spec.excludeIps leaves no address of the Subnet for requests without an address',
    next: 'remove some, or widen spec.cidrBlock',
  },
  JoinHasNoPods: {
    means: 'the join Subnet claims namespaces, or has an IPPool, and has no pods; new pods of those namespaces wait',
    next: 'remove them from its spec.namespaces, or create the pool in another Subnet',
  },
  JoinLacksFamily: {
    means: 'a network of the Subnet is of a family that the join Subnet lacks; no traffic of it leaves through a node, or comes from one',
    next: 'give the join Subnet a network of that family, or the Subnet another',
  },
  SettingWithoutEffect: {
    means:
      'the join or the default Subnet has another network than the setting of the controller, which counts only where it does not exist',
    next: 'change the setting, or the Subnet',
  },
  OverlapsServices: {
    means:
      'a Subnet of the default Vpc overlaps the network of Services; of an address in both, either the pod or the Service is not reachable',
    next: 'move the pods to a Subnet that does not overlap it',
  },
  NetworkMissing: {
    means: 'spec.provider of the Subnet names a NetworkAttachmentDefinition that does not exist, or that names another provider',
    next: 'create it, or correct spec.provider',
  },
  NamespaceImpossible: { means: 'spec.namespaces has a name that no namespace can have', next: 'correct it' },
  VlanMissing: {
    means: 'spec.vlan of the Subnet names a Vlan that does not exist, or that is being deleted',
    next: 'create it, or correct spec.vlan; kubectl get vlans',
  },
  VlanConflict: {
    means: 'two Vlans have the same tag in one ProviderNetwork: the older one has it, no Subnet is connected to the other, and both say so',
    next: 'choose another spec.id for one of them, or put the Subnets on the older Vlan',
  },
  ProviderNetworkMissing: {
    means: 'spec.provider of the Vlan names a ProviderNetwork that does not exist',
    next: 'create it, or correct spec.provider; kubectl get provider-networks',
  },
  NodesReady: { means: 'the ProviderNetwork is ready on each of its nodes', next: '' },
  NodesReadyWithWarning: {
    means:
      'the ProviderNetwork is ready on each of its nodes; on one something would be lost when the interface is given back, or an address is permanent',
    next: 'see the message; kubectl describe node',
  },
  NodesNotReady: {
    means: 'the ProviderNetwork is not ready on a node, or leaves out every node',
    next: 'see the message; kubectl describe node',
  },
  InitOVSBridgeSucceeded: { means: 'in the status of a ProviderNetwork: it is ready on the node', next: '' },
  InitOVSBridgeFailed: {
    means: 'in the status of a ProviderNetwork: it is not ready on the node, with the cause',
    next: 'correct what the message names; the agent tries again',
  },
  VpcMissing: { means: 'the Vpc does not exist', next: 'create it again, or delete the Subnet' },

  // External networks and address translation.
  ExternalOff: { means: 'a Vpc names external Subnets and has no spec.enableExternal', next: 'set spec.enableExternal, or empty the list' },
  NoRouteOutside: {
    means:
      'the router of a Vpc has a port in an external Subnet, and no route leads by way of it, or none of a family that its NAT rules translate: hosts beyond that network are not reached',
    next: 'add the route that the message has to spec.staticRoutes; where only hosts of that network are to be reached, leave it',
  },
  ExternalSubnetInvalid: { means: 'a Subnet that a Vpc requests an external port in cannot have one', next: 'name another Subnet' },
  ExternalGatewayConfigInvalid: {
    means: 'a key of ConfigMap ovn-external-gw-config has a value that cannot be carried out, or has no effect',
    next: 'correct it; the message names the key, the value and the rule',
  },
  ExternalEipInvalid: {
    means: 'the OvnEip with the name of a router port is another one than the port needs, or has no address',
    next: 'see the OvnEip; delete it, or correct it',
  },
  GatewayNodeMissing: {
    means: 'spec.gatewayNode of the Subnet names a node that does not exist, beside one that does',
    next: 'correct the name, or join the node: kubectl get nodes',
  },
  NoGatewayNode: {
    means: 'no node with label ovn.kubernetes.io/external-gw=true and a chassis can host the external port of a Vpc',
    next: 'label a node; see that its agent runs',
  },
  BfdWithoutExternal: {
    means: 'a Vpc has spec.enableBfd and no external gateway to watch',
    next: 'set spec.enableExternal, or turn BFD off',
  },
  BfdPeersMissing: {
    means: 'Subnets with spec.enableEcmp of a Vpc with BFD have fewer than two gateway nodes to share their traffic over',
    next: 'create an OvnEip of type lsp for each gateway node, in an external Subnet of the Vpc, and see that it becomes ready',
  },
  RouteHidden: {
    means:
      'no packet of a pod takes a route, a policy or a peering of a Vpc: a policy comes before all routes (in the default Vpc that of the gateway of each Subnet), and a longer prefix before a shorter one, source or destination; or routes of enableEcmp over gateway nodes hide another route, or would',
    next: 'do what the message says: it has the policy to add, or remove one of the two, or turn enableEcmp off',
  },
  GatewayPortNotFirst: {
    means:
      'OVN before 24.09 translates the load balancer of an OvnDnatRule at one of the external ports of a router alone, and the rule is behind another one',
    next: 'name an OvnEip of the Subnet that the message has, or run a newer OVN',
  },
  PolicyPriorityZero: {
    means: 'a policy of a Vpc has priority 0, as one without a priority has; OVN takes it for no packet',
    next: 'write a priority from 1 on',
  },
  BfdPortUnhosted: { means: 'no node can host the BFD port of the Vpc', next: 'label a node, or correct spec.bfdPort.nodeSelector' },
  BfdUnwatched: {
    means: 'a static route requests a BFD session and has none: the route is in effect without it',
    next: 'set spec.enableBfd, and name a next hop in an external Subnet of the Vpc',
  },
  EipSnatOff: {
    means: 'annotation eip or snat of a pod has no effect, since the controller runs with --enable-eip-snat=false',
    next: 'remove the annotation, or start the controller without the flag',
  },
  SwitchOfOthers: {
    means:
      'the Subnet shows a switch of another program, whose owner decides about it; Kiln allocates from it for admitted namespaces alone',
    next: 'nothing; to let pods of a namespace in: kubectl annotate subnet NAME kiln.io/admit-namespaces=NAMESPACE',
  },
  SwitchOfOthersGone: {
    means: "no router of an external Vpc has a port in a switch of another program of the Subnet's name",
    next: 'where the switch was deleted on purpose, delete the pods that were in it; the Subnet goes with the last one',
  },
  ExternalVpc: {
    means: "a field of an external Vpc has no effect: its router is another program's, which decides about its routes and ports",
    next: 'remove the field, and ask for it where the router was made',
  },
  EipMissing: { means: 'the EIP that the NAT rule names does not exist', next: 'create it, or name another EIP' },
  EipTypeInvalid: { means: 'the EIP that the NAT rule names is for another use than NAT', next: 'name an EIP of type nat' },
  NatTargetMissing: {
    means: 'the IP object, Vip or Subnet that the NAT rule translates does not exist or has no address',
    next: 'create it, or correct spec.ipName, spec.ipType or spec.vpcSubnet',
  },
  NatTargetOutside: {
    means: 'an address or network in the spec of the NAT rule is in no Subnet of its Vpc; the rule is in effect all the same',
    next: 'correct the address; nothing, if a static route leads to it',
  },
  NatFamilyMismatch: {
    means: 'the EIP and what the NAT rule translates have no address of one family',
    next: 'name an EIP of the family',
  },
  NatVpcInvalid: { means: 'the Vpc of the NAT rule does not exist, or is another one than that of its address', next: 'correct spec.vpc' },
  VpcNotConnected: {
    means: 'the Vpc of the NAT rule requests no port in the Subnet of its EIP',
    next: 'set spec.enableExternal of the Vpc, or name the Subnet in its spec.extraExternalSubnets',
  },
  NatConflict: {
    means:
      'two NAT rules translate the same: one of them is in effect; or two give one address inside two addresses outside: both are; both rules say so',
    next: 'change or delete one of them; the message names the other one',
  },
  NatRuleInvalid: breach('the spec of the NAT rule'),
  PodNatInvalid: breach('annotation eip or snat'),

  // Features that are not implemented.
  NotCarriedOut: { means: 'Kiln does not implement this kind or feature yet', next: 'do not rely on it' },
  UnsupportedField: { means: 'Kiln does not implement this field yet', next: 'do not rely on it' },

  // Broken rules.
  Invalid: { means: 'the spec breaks a rule', next: correct('the field that the message names') },
  Immutable: { means: 'the field cannot change once it is set', next: 'restore it, or create a new object' },
  ValidateLogicalSwitchFailed: { means: 'the Subnet breaks a rule', next: correct('the field that the message names') },
  FieldCorrected: {
    means:
      'Kiln corrected spec.protocol or spec.default of a Subnet, an annotation of a Namespace with its Subnets or IPPools, or an annotation of a Pod with its address',
    next: 'nothing, or create the Subnet that you meant, or name the namespace in it, or delete the pod and create it with the address you meant',
  },
  HostBitsCleared: {
    means: 'a field for a network has an address inside of one; Kiln uses the network',
    next: 'check that it is the network you meant',
  },
  PoolOutsideNamespace: {
    means: 'an IPPool is bound to a namespace whose pods are in other Subnets, so that they take no address of it by themselves',
    next: 'list the namespace in the Subnet of the pool, or create the pool in a Subnet of the namespace',
  },
  AnnotationUnread: {
    means: 'no program reads an annotation whose key is in a group of Kube-OVN or Kiln',
    next: 'write the key that the message names, or remove the annotation',
  },
  AnnotationIneffective: {
    means: 'an annotation of a pod is valid and ineffective',
    next: 'do what the message says, or remove the annotation',
  },
  InvalidAnnotation: { means: 'an annotation is invalid', next: 'correct the annotation that the message names' },
  InvalidNetwork: { means: 'spec.config of a NetworkAttachmentDefinition, or a field of it, is invalid', next: 'correct it' },
  LeaseInvalid: { means: 'annotation kiln.io/lease is not a duration; the address stays reserved', next: 'write 24h, 90m or 7d' },
  NameInvalid: { means: 'a reservation may not have the name of the IP object', next: 'create it with another name' },
  CidrInUse: { means: 'the CIDR was changed and addresses outside of the new one are in use', next: 'free those, or restore it' },

  // One for each validation rule, here and in the admission webhook.
  IPAddressInvalid: breach('the addresses of the IP object'),
  IPFieldImmutable: {
    means: 'an edit changes a field of the IP object that cannot change once it is set',
    next: 'restore it, or create a new object',
  },
  IPMacInvalid: breach('spec.macAddress of the IP object'),
  IPNameMismatch: breach('the name of the IP object, against the pod in its spec'),
  IPPodTypeInvalid: breach('spec.podType of the IP object'),
  IPPoolIpsInvalid: breach('spec.ips of the IPPool'),
  IPPoolOverlap: breach('spec.ips of the IPPool: another pool has some of them'),
  IPPoolSubnetImmutable: {
    means: 'an edit changes spec.subnet of an IPPool that cannot change once it is set',
    next: 'restore it, or create a new object',
  },
  IPPoolSubnetMissing: breach('spec.subnet of the IPPool'),
  IPSubnetMissing: breach('spec.subnet of the IP object'),
  IptablesEIPAddressInvalid: breach('the addresses of the IptablesEIP'),
  IptablesEIPMacInvalid: breach('spec.macAddress of the IptablesEIP'),
  ProviderNetworkNameReserved: breach('the name of the ProviderNetwork: its bridge would be the bridge of OVN'),
  ProviderNetworkNameTooLong: breach('the name of the ProviderNetwork: its bridge is a device of each node'),
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
  SubnetCidrComesOrGoes: breach('spec.cidrBlock: it can be neither added nor removed'),
  SubnetCidrInvalid: breach('spec.cidrBlock'),
  SubnetCidrOverlap: breach('spec.cidrBlock: another Subnet of the Vpc has some of it'),
  SubnetExcludeIpsInvalid: breach('spec.excludeIps'),
  SubnetExternalEgressGatewayInvalid: breach('spec.externalEgressGateway'),
  SubnetGatewayInUse: {
    means:
      'the gateway was changed, and the address of the new one is in use, or routes of running pods lead to the present one, which stays',
    next: 'put it back, or delete what the message names, or allow it: annotation kiln.io/allow-change-under-pods',
  },
  SubnetGatewayInvalid: breach('spec.gateway'),
  SubnetGatewayNodeInvalid: breach('spec.gatewayNode'),
  SubnetGatewayTypeInvalid: breach('spec.gatewayType'),
  SubnetHoldsApiServer: breach('spec.cidrBlock: the API server has an address in it'),
  SubnetHoldsNode: breach('spec.cidrBlock: a node has an address in it'),
  SubnetMacOnlyWithAddresses: breach('spec.protocol Mac beside addresses'),
  SubnetMaskInUse: {
    means: 'spec.cidrBlock was narrowed under running pods with the mask of the wider network, which stays',
    next: 'put it back, or delete what the message names, or allow it: annotation kiln.io/allow-change-under-pods',
  },
  SubnetMtuInUse: {
    means: 'the MTU was changed under running pods, whose interfaces keep theirs',
    next: 'put it back, or delete what the message names, or allow it: annotation kiln.io/allow-change-under-pods',
  },
  SubnetMtuInvalid: breach('spec.mtu'),
  SubnetNameTooLong: breach('the name of the Subnet'),
  SubnetNamedAsVpc: breach('the name of the Subnet: a Vpc has it'),
  SubnetNamespaceNotOfVpc: breach('spec.namespaces or spec.namespaceSelectors: a namespace is not of the Vpc'),
  SubnetNatOutgoingPolicyRuleInvalid: breach('spec.natOutgoingPolicyRules'),
  SubnetOptionsInvalid: breach('spec.dhcpV4Options, spec.dhcpV6Options or spec.ipv6RAConfigs'),
  SubnetOverlayOnlyWithoutU2o: breach('spec.u2oInterconnection'),
  SubnetProtocolInvalid: breach('spec.protocol'),
  SubnetProviderChanged: {
    means: 'an edit changes spec.provider of a Subnet whose network runs',
    next: 'restore it, or create a new object',
  },
  SubnetRoutingTableTaken: breach('spec.policyRoutingTableID: another Subnet has it'),
  SubnetSelectorInvalid: breach('spec.namespaceSelectors'),
  SubnetU2oIpInvalid: breach('spec.u2oInterconnectionIP'),
  SubnetU2oWithLogicalGateway: breach('spec.u2oInterconnection beside logicalGateway'),
  SubnetVipInvalid: breach('spec.vips'),
  SubnetVlanInUse: {
    means:
      'another Vlan would put an external Subnet on another physical network, while OvnEips in it reach the outside by the present one',
    next: 'put it back, or delete what the message names, or allow it: annotation kiln.io/allow-change-under-pods',
  },
  SubnetVpcChanged: { means: 'an edit changes spec.vpc of a Subnet, which cannot move', next: 'restore it, or create a new object' },
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
