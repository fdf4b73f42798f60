/** Every condition type that Kiln writes, with its meaning when true: a closed list. The reference page is generated from it. */
export const CONDITION_TYPES = {
  'kiln.io/NetworkBound': {
    on: 'Pod, Node',
    means: 'all interfaces have their addresses; on a pod that waited, or is misbound; on a node while it has none in the join Subnet',
  },
  'kiln.io/NotCarriedOut': { on: 'Pod', means: 'an annotation requests what Kiln does not implement; present only while it does' },
  'kiln.io/WithoutEffect': { on: 'Pod', means: 'an annotation is ineffective; present only while it is' },
  'kiln.io/Translated': {
    on: 'Pod',
    means: 'the external addresses of annotations eip and snat are in effect; present only while the pod requests one',
  },
  Accepted: {
    on: 'Vpc, Subnet, IP, Vip, OvnEip, IptablesEIP, their rules, Node, NetworkAttachmentDefinition',
    means: 'the spec is valid and can take effect',
  },
  Validated: { on: 'Subnet, kinds that are not implemented', means: 'the spec breaks no rule' },
  Ready: { on: 'Vpc, Subnet, IPPool, OvnFip, OvnSnatRule, OvnDnatRule, kinds that are not implemented', means: 'it is in place in OVN' },
  Error: {
    on: 'Subnet, IPPool',
    means:
      'the spec breaks a rule; a Subnet in effect has status Unknown, reason Init, as with Kube-OVN, an IPPool does not have the condition',
  },
  NotCarriedOut: {
    on: 'Vpc, Subnet, IP, Vip, IptablesEIP',
    means: 'a field requests what Kiln does not implement; present only while it does',
  },
  WithoutEffect: {
    on: 'Vpc, Subnet, IPPool, IP, Vip, OvnEip, IptablesEIP, OvnFip, OvnSnatRule, OvnDnatRule, Node, NetworkAttachmentDefinition',
    means: 'a part of the spec or an annotation is ineffective, or not fully effective; present only while it is',
  },
  Corrected: {
    on: 'Subnet',
    means:
      'a field had an impossible value and Kiln corrected it; the message has the former value; present until the next edit of the spec',
  },
  Peered: { on: 'Vpc', means: 'each Vpc that it peers with names it back, and the two ends fit' },
  External: { on: 'Vpc', means: 'its router has a port in each external Subnet that it requests; present only while it requests one' },
  Bfd: { on: 'Vpc', means: 'the BFD sessions that it requests are in OVN; present only while spec.enableBfd is true' },
  CollectionHeld: {
    on: 'Vpc',
    means: 'on the default Vpc: too many rows have no owner, and none is collected before `kiln gc approve`; present only while they wait',
  },
  DefaultSubnet: { on: 'Vpc', means: 'spec.defaultSubnet names a Subnet of the Vpc' },
  AddressConflict: { on: 'IP, Vip, EIPs, their rules', means: 'another object has the same address; present only while it does' },
  InUse: { on: 'OvnEip', means: 'NAT rules use the address; the message counts and names them; present only while they do' },
  NatConflict: {
    on: 'OvnFip, OvnSnatRule, OvnDnatRule',
    means: 'a rule that cannot be in effect beside this one waits for it; present only while it does',
  },
  VlanConflict: { on: 'Vlan', means: 'a newer Vlan with the same tag waits for this one; present only while it does' },
  DeletionBlocked: { on: 'kinds that others can use', means: 'the object is being deleted and has blockers' },
  CauseGone: {
    on: 'Vpc, Subnet, OvnEip',
    means: 'what Kiln made the object from is gone; the message says until when it stays, or what keeps it; present only while it does',
  },
  Idle: { on: 'IP, Vip, OvnEip, IptablesEIP', means: 'nothing uses the address, and its lease runs' },
  LeaseInvalid: { on: 'IP, Vip, OvnEip, IptablesEIP', means: 'annotation kiln.io/lease is not a duration' },
} as const satisfies Readonly<Record<string, { readonly on: string; readonly means: string }>>;

export type ConditionType = keyof typeof CONDITION_TYPES;
