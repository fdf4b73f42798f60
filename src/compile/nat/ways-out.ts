/**
 * What an OvnSnatRule of the default Vpc sends outside by way of its external Subnet. In Kube-OVN the rule is a NAT row alone, and routes of the
 * user decide what comes to it; where there are none, nothing would. So what the Vpc's own routes and policies lead into the external Subnet
 * goes there, and everything if nothing leads there. An annotation of the rule decides otherwise.
 */
import { wrongFields } from '../../api/validation/finding.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { packetNetworks } from '../../api/values/match-text.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { parseAddress } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { cidrContains, cidrCovers, cidrsOverlap, formatCidr, hostOrCidr } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import { commandText } from '../../text/command-text.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { requestedRoute } from '../vpc/requested-route.ts';
import { networksOfSubnet } from '../vpc/unconnected-external.ts';
import { vpcFindings } from '../vpc/vpc-state.ts';
import { vpcSpec } from '../vpc/vpc-view.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import type { Translation } from './nat-pairs.ts';

const VALUES = ['everything', 'routes'] as const;
type Asked = (typeof VALUES)[number] | '';

/** What annotation `kiln.io/outgoing` of an OvnSnatRule says, as written. Key: the name of the rule. */
const annotated: Query<string> = defineQuery(
  'snat-outgoing-annotation',
  (world, name) => world.natRules['ovn-snat-rules'].get(name)?.metadata.annotations?.[kilnAnnotation.outgoing] ?? '',
);

export interface WaysOut {
  readonly leads: 'everything' | 'routes';
  readonly asked: Asked;
  /** The fields of the Vpc's spec that lead into the external Subnet. */
  readonly fields: readonly string[];
  /** Matches and next hops, beside the policies of the spec itself. */
  readonly policies: readonly { readonly match: string; readonly nexthop: string }[];
}

/** @param matches of the sources of the translation, one for each pair; with the next hop outside */
export function waysOut(
  world: World,
  name: string,
  { vpc, external, pairs }: Translation,
  everything: readonly { readonly match: string; readonly nexthop: string }[],
): WaysOut {
  const text = world.ask(annotated, name);
  const asked = VALUES.find((value) => value === text) ?? '';
  const ways = pairs.flatMap(({ inner }) => waysOf(world, vpc, external, inner));
  const leads = asked === '' ? (ways.length > 0 ? 'routes' : 'everything') : asked;
  const policies = leads === 'everything' ? everything : ways.flatMap(({ policy }) => policy ?? []);
  return { leads, asked, fields: [...new Set(ways.map(({ field }) => field))], policies };
}

interface Way {
  readonly field: string;
  /** What makes a static route one for pods; a policy is one by itself. */
  readonly policy?: { readonly match: string; readonly nexthop: string };
}

/** Routes and policies of a Vpc that lead some of a source's packets into an external Subnet. */
function waysOf(world: World, vpc: string, external: string, inner: string): readonly Way[] {
  const source = hostOrCidr(inner);
  const { staticRoutes = [], policyRoutes = [] } = world.ask(vpcSpec, vpc) ?? {};
  if (source === undefined || staticRoutes.length + policyRoutes.length === 0) return [];
  const wrong = wrongFields(world.ask(vpcFindings, vpc));
  const networks = networksOfSubnet(world, external);
  const isOutside = (text: string): boolean => {
    const hop = parseAddress(text);
    return hop !== undefined && hop.family === source.family && networks.some((network) => cidrContains(network, hop));
  };
  const table = tableOf(world, vpc, source);
  const ip = `ip${source.family}`;
  const routes = staticRoutes.flatMap((route, i): readonly Way[] => {
    const field = `spec.staticRoutes[${i}]`;
    const [requested] = wrong.has(field) ? [] : requestedRoute(route);
    const prefix = requested === undefined ? undefined : hostOrCidr(requested.prefix);
    if (requested === undefined || prefix === undefined || requested.table !== table || !isOutside(requested.nexthop)) return [];
    const { nexthop, policy } = requested;
    if (policy === 'dst-ip') {
      const to = prefix.prefix === 0 ? '' : ` && ${ip}.dst == ${textOf(prefix)}`;
      return [{ field, policy: { match: `${ip}.src == ${inner}${to}`, nexthop } }];
    }
    if (!cidrsOverlap(prefix, source)) return [];
    return [{ field, policy: { match: `${ip}.src == ${cidrCovers(prefix, source) ? inner : textOf(prefix)}`, nexthop } }];
  });
  const policies = policyRoutes.flatMap(({ action, match = '', nextHopIP = '', priority = 0 }, i): readonly Way[] => {
    const field = `spec.policyRoutes[${i}]`;
    if (action !== 'reroute' || priority === 0 || wrong.has(field) || !splitList(nextHopIP).some(isOutside)) return [];
    const { family = source.family, sources } = packetNetworks(match);
    const concerns = sources?.some((one) => overlaps(one, source)) ?? true;
    return family === source.family && concerns ? [{ field }] : [];
  });
  return [...routes, ...policies];
}

function overlaps(text: string, source: Cidr): boolean {
  const cidr = hostOrCidr(text);
  return cidr === undefined || (cidr.family === source.family && cidrsOverlap(cidr, source));
}

function textOf(cidr: Cidr): string {
  const text = formatCidr(cidr);
  return text.replace(cidr.family === 4 ? /\/32$/ : /\/128$/, '');
}

/** The route table of the Subnet that has the source. */
function tableOf(world: World, vpc: string, source: Cidr): string {
  for (const name of [...world.subnetVpcs.in(vpc)].toSorted()) {
    if (networksOfSubnet(world, name).some((network) => network.family === source.family && cidrsOverlap(network, source)))
      return world.ask(subnetView, name)?.routeTable ?? '';
  }
  return '';
}

/** The sentence of a rule in effect. */
export function waysOutText({ leads, asked, fields, policies }: WaysOut, { vpc, external, pairs }: Translation): string {
  const sources = pairs.map(({ inner }) => inner).join(' and ');
  const by = (value: Asked): string => (asked === '' ? '' : `, as annotation ${kilnAnnotation.outgoing}: ${value} says`);
  if (leads === 'everything') {
    const hops = [...new Set(policies.map(({ nexthop }) => nexthop))].join(' and ');
    const why = asked === '' ? `, since no route or policy of Vpc ${vpc} leads there` : by('everything');
    return `All that ${sources} sends outside leaves by Subnet ${external}, by way of ${hops}${why}`;
  }
  const which = fields.length === 0 ? 'none leads there, so nothing is translated' : fields.join(', ');
  return `Of what ${sources} sends outside, routes and policies of Vpc ${vpc} decide what leaves by Subnet ${external}${by('routes')}: ${which}. The rest takes the gateway of its Subnet, untranslated by this rule`;
}

/** A wrong value of the annotation: the rule is as without it. */
export function outgoingAnnotationFinding(world: World, name: string): readonly Finding[] {
  const value = world.ask(annotated, name);
  if (value === '' || VALUES.some((one) => one === value)) return [];
  const rule = commandText`it is everything (all that the source sends outside leaves by the external Subnet) or routes (what routes and policies of the Vpc lead there); kubectl edit ovn-snat-rule ${name}`;
  const problem = 'is not known';
  const field = `metadata.annotations.${kilnAnnotation.outgoing}`;
  return [findingOf({ kind: 'OvnSnatRule', name }, { code: 'InvalidAnnotation', field, value, problem, rule })];
}
