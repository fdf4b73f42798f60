/** Every condition type that Kiln writes, with its meaning when true: a closed list. The reference page is generated from it. */
export const CONDITION_TYPES = {
  'kiln.io/NetworkBound': {
    on: 'Pod, Node',
    means: 'all interfaces have their addresses; on a pod that waited, or is misbound; on a node while it has none in the join Subnet',
  },
  'kiln.io/NotCarriedOut': { on: 'Pod', means: 'an annotation asks for what this version does not do; there only while it does' },
  Accepted: {
    on: 'Vpc, Subnet, IP, Vip, OvnEip, IptablesEIP, their rules, Node, NetworkAttachmentDefinition',
    means: 'the spec is sound and can be carried out',
  },
  Validated: { on: 'Subnet, kinds that are not implemented', means: 'the spec breaks no rule' },
  Ready: { on: 'Vpc, Subnet, IPPool, kinds that are not implemented', means: 'it is in place in OVN' },
  Error: { on: 'Subnet, IPPool', means: 'the spec breaks a rule; there only while it does' },
  NotCarriedOut: {
    on: 'Vpc, Subnet, IP, Vip, IptablesEIP',
    means: 'a field that is set asks for what this version does not do; there only while it is',
  },
  WithoutEffect: {
    on: 'Vpc, Subnet, IPPool, Vip',
    means: 'something of the spec does nothing, or not all it says, as things are; there only while that is so',
  },
  Corrected: {
    on: 'Subnet',
    means:
      'a field was written as something that it cannot be and was put right; the message says what it was; there until the spec is edited next',
  },
  Peered: { on: 'Vpc', means: 'each Vpc that it peers with names it back, and the two ends fit' },
  DefaultSubnet: { on: 'Vpc', means: 'spec.defaultSubnet names a Subnet of the Vpc' },
  AddressConflict: { on: 'IP, Vip, EIPs, their rules', means: 'another has the same address; there only while it does' },
  DeletionBlocked: { on: 'whatever can be in use', means: 'it is being deleted and something still uses it' },
  Idle: { on: 'IP, Vip, OvnEip, IptablesEIP', means: 'nothing uses the address, and its lease runs' },
  LeaseInvalid: { on: 'IP, Vip, OvnEip, IptablesEIP', means: 'annotation kiln.io/lease is no duration' },
} as const satisfies Readonly<Record<string, { readonly on: string; readonly means: string }>>;

export type ConditionType = keyof typeof CONDITION_TYPES;
