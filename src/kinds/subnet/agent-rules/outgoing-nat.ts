/**
 * Translation of what pods send through this node, as a table of nftables. Every value in the script was parsed and is printed anew: none is a
 * user's text.
 *
 * - It sets no mark and reads one: kube-proxy's, which it takes off tunnel packets. Marks of other programs therefore never collide with it.
 * - Its chains have a fixed priority before those of kube-proxy, firewalld and the `portmap` plugin, in whatever order they start: the first chain
 *   that translates a connection decides, and `accept` here leaves it to the next chain.
 */
import type { Rule } from '../../../engine/compiler.ts';
import { canonicalAddress, parseAddress } from '../../../net/address.ts';
import { canonicalCidr, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { ONCE } from '../../../engine/domain.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NatRule, NodeSubnet } from '../agent-table.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { isReachedFromNodes } from './reached-from-nodes.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';

const FAMILIES = [
  { family: 4, match: 'ip' },
  { family: 6, match: 'ip6' },
] as const;
type Family = (typeof FAMILIES)[number];

const MASQUERADE = 'masquerade fully-random';
/** kube-proxy translates packets with this bit on their way out. */
const KUBE_PROXY_MARK = 0x4000;
const TUNNEL_PORTS: Readonly<Record<string, string>> = { geneve: 'udp dport 6081', vxlan: 'udp dport 4789', stt: 'tcp dport 7471' };

export function outgoingNat(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'outgoing-nat',
    over: () => ONCE,
    run(world) {
      // What leaves the cluster is the primary plugin's matter. A table from before goes.
      if (settings.nonPrimaryCni === true) return [{ kind: 'packet-filter', script: '' }];
      const subnets = [...world.subnets.keys()]
        .toSorted()
        .flatMap((name) => world.subnets.get(name) ?? [])
        .filter((subnet) => isReachedFromNodes(subnet, settings));
      const centralized = subnets.filter((subnet) => subnet.centralized);
      const nodes = otherNodes(world, settings.node);
      const translated = subnets.filter(({ natOutgoing }) => natOutgoing);
      const script = FAMILIES.flatMap((family) => [
        ...addressSet(
          `subnets${family.family}`,
          family,
          subnets.flatMap(({ cidrs }) => cidrs),
        ),
        ...addressSet(
          `centralized${family.family}`,
          family,
          centralized.flatMap(({ cidrs }) => cidrs),
        ),
        ...addressSet(`nodes${family.family}`, family, nodes),
      ]);
      const leaving = FAMILIES.flatMap((family) => translated.flatMap((subnet) => leavingRules(subnet, family, settings.node)));
      script.push(
        ...chain('untranslated', 'filter hook postrouting priority srcnat - 10', [
          ...leaving.map(({ condition, verdict }) => `${condition} ${verdict === 'accept' ? 'accept' : 'ct state invalid drop'}`),
        ]),
        ...chain('postrouting', 'nat hook postrouting priority srcnat - 5', [
          ...FAMILIES.flatMap(throughThisNode),
          ...leaving.map(({ condition, verdict }) => `${condition} ${verdict}`),
        ]),
        ...chain('tunnels', 'filter hook output priority mangle', tunnelRules(settings)),
      );
      return [{ kind: 'packet-filter', script: script.join('\n') }];
    },
  };
}

function chain(name: string, type: string, rules: readonly string[]): readonly string[] {
  return [`chain ${name} {`, `  type ${type}; policy accept;`, ...rules.map((rule) => `  ${rule}`), '}'];
}

/**
 * An empty set has no elements, and matches nothing. Its type is that of an expression: nft up to 1.0.6 (Debian 12) ends by a signal, whatever it
 * is to do, beside a set or map that a newer nft wrote with the name of a type.
 */
function addressSet(name: string, { family, match }: Family, addresses: readonly string[]): readonly string[] {
  const elements = addresses.filter((address) => familyOf(address) === family);
  return [
    `set ${name} {`,
    `  typeof ${match} saddr; flags interval; auto-merge;`,
    ...(elements.length === 0 ? [] : [`  elements = { ${elements.join(', ')} }`]),
    '}',
  ];
}

/** InternalIPs: OVN leads what pods send to one of them through the tunnel to its node, whatever node translated the connection. */
function otherNodes(world: NodeWorld, own: string): readonly string[] {
  const names = [...world.nodes.keys()].filter((name) => name !== own).toSorted();
  return names.flatMap((name) => world.nodes.get(name)?.addresses ?? []).flatMap((address) => canonicalAddress(address) ?? []);
}

/** Connections whose destination this node translated (a Service, a hostPort), where the reply would not come back through it by itself. */
function throughThisNode({ family, match }: Family): readonly string[] {
  return [
    `${match} saddr @subnets${family} ct status dnat ${MASQUERADE}`,
    `${match} saddr @nodes${family} ${match} daddr @subnets${family} ct status dnat ${MASQUERADE}`,
    // What such a pod sends leaves by the gateway's node.
    `${match} saddr != @subnets${family} ${match} daddr @centralized${family} ct status dnat ${MASQUERADE}`,
  ];
}

/** The mark of the packet in the tunnel is on the tunnel's packet as well, which would be translated. */
function tunnelRules({ tunnel }: NodeSettings): readonly string[] {
  const port = TUNNEL_PORTS[tunnel];
  const bit = `0x${KUBE_PROXY_MARK.toString(16)}`;
  const others = `0x${(0xffff_ffff - KUBE_PROXY_MARK).toString(16)}`;
  return port === undefined ? [] : [`${port} meta mark & ${bit} == ${bit} meta mark set meta mark & ${others}`];
}

interface LeavingRule {
  readonly condition: string;
  /** `accept`: not translated here. */
  readonly verdict: string;
}

function leavingRules(subnet: NodeSubnet, { family, match }: Family, node: string): readonly LeavingRule[] {
  const { cidrs, natRules, centralized, gatewayNodes } = subnet;
  return cidrs
    .filter((cidr) => familyOf(cidr) === family)
    .flatMap((cidr) => {
      const leaving = `${match} saddr ${cidr} ${match} daddr != @subnets${family}`;
      const egress = centralized ? egressAddress(gatewayNodes, node, family) : undefined;
      const translate = egress === undefined ? MASQUERADE : `snat ${match} to ${egress}`;
      const exceptions = natRules.flatMap((rule) => {
        const condition = conditionOf(rule, family, match);
        if (condition === undefined) return [];
        return [{ condition: `${leaving}${condition}`, verdict: rule.action === 'nat' ? translate : 'accept' }];
      });
      return [...exceptions, { condition: leaving, verdict: translate }];
    });
}

/** Begins with a space, unless it is empty; undefined: the rule is about the other family, or about nothing that can be parsed. */
function conditionOf({ sources, destinations }: NatRule, family: 4 | 6, match: string): string | undefined {
  const parts: string[] = [];
  for (const [text, direction] of [
    [sources, 'saddr'],
    [destinations, 'daddr'],
  ] as const) {
    if (text.trim() === '') continue;
    const values = splitList(text)
      .flatMap((one) => canonicalCidr(one) ?? canonicalAddress(one) ?? [])
      .filter((one) => familyOf(one) === family);
    if (values.length === 0) return undefined;
    parts.push(` ${match} ${direction} { ${values.join(', ')} }`);
  }
  return parts.join('');
}

/** Of `node-1:172.18.0.2,node-2` for node-1: 172.18.0.2. An IPv6 address has colons as well. */
function egressAddress(gatewayNodes: string, node: string, family: 4 | 6): string | undefined {
  for (const entry of splitList(gatewayNodes)) {
    const at = entry.indexOf(':');
    if (at === -1 || entry.slice(0, at).trim() !== node) continue;
    const address = canonicalAddress(entry.slice(at + 1).trim());
    if (address !== undefined && familyOf(address) === family) return address;
  }
  return undefined;
}

function familyOf(text: string): 4 | 6 | undefined {
  return parseCidr(text)?.family ?? parseAddress(text)?.family;
}
