/**
 * Translation of what pods send to the outside, as a table of nftables. Every value in the script was parsed and is printed anew: none is a
 * user's text.
 */
import type { Rule } from '../../compile/compiler.ts';
import { canonicalAddress, parseAddress } from '../../net/address.ts';
import { canonicalCidr, parseCidr } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import { ONCE } from '../../world/domain.ts';
import type { NatRule, NodeSubnet, NodeWorld } from '../world/node-world.ts';
import type { NodeOutput } from '../world/outputs.ts';
import { isReachedFromNodes } from './node-interface.ts';
import type { NodeSettings } from './node-settings.ts';

const FAMILIES = [
  { family: 4, match: 'ip', type: 'ipv4_addr' },
  { family: 6, match: 'ip6', type: 'ipv6_addr' },
] as const;
type Family = (typeof FAMILIES)[number];

export function outgoingNat(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'outgoing-nat',
    over: () => ONCE,
    run(world) {
      const subnets = [...world.subnets.keys()]
        .toSorted()
        .flatMap((name) => world.subnets.get(name) ?? [])
        .filter((subnet) => isReachedFromNodes(subnet, settings));
      const sets = FAMILIES.flatMap((family) => [
        addressSet(
          `subnets${family.family}`,
          family,
          subnets.flatMap(({ cidrs }) => cidrs),
        ),
      ]);
      const rules = FAMILIES.flatMap((family) =>
        subnets.filter(({ natOutgoing }) => natOutgoing).flatMap((subnet) => rulesOf(subnet, family, settings.node)),
      );
      const chain = [
        'chain postrouting {',
        '  type nat hook postrouting priority srcnat; policy accept;',
        ...rules.map((rule) => `  ${rule}`),
        '}',
      ];
      return [{ kind: 'packet-filter', script: [...sets.flat(), ...chain].join('\n') }];
    },
  };
}

/** An empty set has no elements, and matches nothing. */
function addressSet(name: string, { family, type }: Family, cidrs: readonly string[]): readonly string[] {
  const elements = cidrs.filter((cidr) => familyOf(cidr) === family);
  return [
    `set ${name} {`,
    `  type ${type}; flags interval; auto-merge;`,
    ...(elements.length === 0 ? [] : [`  elements = { ${elements.join(', ')} }`]),
    '}',
  ];
}

function rulesOf({ cidrs, natRules, centralized, gatewayNodes }: NodeSubnet, { family, match }: Family, node: string): readonly string[] {
  return cidrs
    .filter((cidr) => familyOf(cidr) === family)
    .flatMap((cidr) => {
      const leaving = `${match} saddr ${cidr} ${match} daddr != @subnets${family}`;
      const egress = centralized ? egressAddress(gatewayNodes, node, family) : undefined;
      const translate = egress === undefined ? 'masquerade fully-random' : `snat to ${egress}`;
      const exceptions = natRules.flatMap((rule) => {
        const condition = conditionOf(rule, family, match);
        return condition === undefined ? [] : [`${leaving} ${condition}${rule.action === 'nat' ? translate : 'accept'}`];
      });
      return [...exceptions, `${leaving} ${translate}`];
    });
}

/** Ends with a space, unless it is empty; undefined: the rule is about the other family, or about nothing that can be parsed. */
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
    parts.push(`${match} ${direction} { ${values.join(', ')} } `);
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
