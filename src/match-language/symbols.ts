/**
 * Fields of OVN's match language (ovn-sb(5), "Logical_Flow" TABLE, "Symbols"), of the supported versions 23.03 and 25.03.
 * A *nominal* field can only be compared as a whole and for equality: the switch has no mask for it.
 */

export interface MatchField {
  /** Bits; 0 is a string. */
  readonly width: number;
  readonly level: 'ordinal' | 'boolean' | 'nominal';
  /** True for a name of a whole condition, such as `tcp`. */
  readonly predicate: boolean;
}

const ORDINAL: Readonly<Record<number, string>> = {
  1: `flags.loopback flags.force_snat_for_dnat flags.force_snat_for_lb flags.skip_snat_for_lb flags.use_snat_zone flags.localnet
    flags.icmp_snat flags.tunnel_rx flags.from_ctrl flags.unsnat_new flags.unsnat_not_tracked eth.mcast
    ct.new ct.est ct.rel ct.rpl ct.inv ct.trk ct.snat ct.dnat ct_mark.blocked ct_mark.natted ct_mark.skip_snat ct_mark.force_snat
    ct_mark.allow_established ct_label.blocked ct_label.natted ct_label.skip_snat ct_label.force_snat`,
  2: 'ip.frag ct_mark.obs_stage',
  3: 'vlan.pcp',
  8: 'ct_mark.obs_collector_id',
  12: 'vlan.vid tcp.flags',
  16: `vlan.tci tcp.src tcp.dst udp.src udp.dst sctp.src sctp.dst ct_mark.ecmp_reply_port ct_label.ecmp_reply_port ct_label.acl_id`,
  20: 'ip6.label',
  32: `flags reg0 reg1 reg2 reg3 reg4 reg5 reg6 reg7 reg8 reg9 ct_mark ct_state pkt.mark ip4.src ip4.dst arp.spa arp.tpa rarp.spa rarp.tpa
    ct_label.label ct_label.obs_point_id`,
  48: 'eth.src eth.dst arp.sha arp.tha rarp.sha rarp.tha nd.sll nd.tll ct_label.ecmp_reply_eth',
  64: 'xreg0 xreg1 xreg2 xreg3 xreg4',
  96: 'ct_label.obs_unused',
  128: 'xxreg0 xxreg1 ct_label ip6.src ip6.dst nd.target',
};

const NOMINAL: Readonly<Record<number, string>> = {
  0: 'inport outport',
  2: 'ip.ecn',
  6: 'ip.dscp',
  8: 'ip.proto ip.ttl icmp4.type icmp4.code icmp6.type icmp6.code',
  16: 'eth.type arp.op rarp.op icmp4.frag_mtu',
  32: 'icmp6.frag_mtu',
};

const PREDICATES = {
  boolean: `eth.bcast eth.mcastv6 vlan.present ip4.src_mcast ip4.mcast ip6.mcast_rsvd ip6.mcast_all_nodes ip6.mcast_all_rtrs ip6.mcast_sol_node
    ip6.mcast_flood ip6.mcast ip.is_frag ip.later_frag ip.first_frag`,
  nominal: 'ip4 ip6 ip icmp4 icmp6 icmp igmp arp rarp nd nd_ns nd_ns_mcast nd_na nd_rs nd_ra mldv1 mldv2 tcp udp sctp',
} as const;

const words = (text: string): readonly string[] => text.split(/\s+/);

function* fields(): Iterable<readonly [string, MatchField]> {
  for (const [width, names] of Object.entries(ORDINAL))
    for (const name of words(names)) yield [name, { width: Number(width), level: 'ordinal', predicate: false }];
  for (const [width, names] of Object.entries(NOMINAL))
    for (const name of words(names)) yield [name, { width: Number(width), level: 'nominal', predicate: false }];
  for (const level of ['boolean', 'nominal'] as const)
    for (const name of words(PREDICATES[level])) yield [name, { width: 1, level, predicate: true }];
}

export const MATCH_FIELDS: ReadonlyMap<string, MatchField> = new Map(fields());
