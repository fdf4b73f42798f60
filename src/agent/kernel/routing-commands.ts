/**
 * Rules and tables of routes, as `ip` shows and takes them. Each of ours has the number below as its protocol: what another program made has
 * another one, and is neither changed nor removed.
 */
import { canonicalAddress } from '../../net/address.ts';
import { canonicalCidr } from '../../net/cidr.ts';
import type { RoutingOutput } from '../world/outputs.ts';

/** Not among those that iproute2 names. */
export const PROTOCOL = 111;

export const FAMILIES = [4, 6] as const;

export type RoutingLine = Pick<RoutingOutput, 'family' | 'part' | 'text'>;

interface RuleJson {
  readonly priority?: number;
  readonly src?: string;
  readonly srclen?: number;
  readonly table?: string;
  readonly protocol?: string;
}

interface TableRouteJson {
  readonly type?: string;
  readonly dst?: string;
  readonly gateway?: string;
  readonly table?: string;
}

/** As `-N` prints it. */
const MAIN = '254';

/** The type of a route that ends the lookup in its table, as `-N` prints it. */
const THROW = '9';

/** Lists all rules, or our routes, of a family, as JSON with numbers. */
export function listCommand(family: 4 | 6, part: 'rule' | 'route'): readonly [string, ...string[]] {
  const what = part === 'rule' ? ['rule', 'show'] : ['route', 'show', 'table', 'all', 'proto', String(PROTOCOL)];
  return ['ip', '-json', '-N', `-${family}`, ...what];
}

/** @returns the texts of outputs that would make what is listed and ours */
export function listedTexts(part: 'rule' | 'route', listed: unknown): readonly string[] {
  if (part === 'rule')
    // `ip rule show protocol` shows those of every protocol.
    return (listed as readonly RuleJson[])
      .filter(({ protocol }) => protocol === String(PROTOCOL))
      .map(({ priority, src = '', srclen, table }) => {
        const source = srclen === undefined ? canonicalAddress(src) : canonicalCidr(`${src}/${srclen}`);
        return `from ${source ?? src} lookup ${table} priority ${priority}`;
      });
  // Those of the main table are of a device.
  const ofTables = (listed as readonly TableRouteJson[]).filter(({ table }) => table !== undefined && table !== MAIN);
  return ofTables.map(({ type, dst = '', gateway, table }) => {
    const destination = dst === 'default' ? dst : (canonicalCidr(dst) ?? canonicalCidr(`${dst}/${dst.includes(':') ? 128 : 32}`) ?? dst);
    return `${type === THROW ? 'throw ' : ''}${destination}${gateway === undefined ? '' : ` via ${gateway}`} table ${table}`;
  });
}

/** Lines for `ip -batch`. No rule leads to a table before its routes are there, and none is left when they go. */
export function routingLines(family: 4 | 6, wanted: readonly RoutingLine[], present: readonly RoutingLine[]): readonly string[] {
  const differing = (ones: readonly RoutingLine[], others: readonly RoutingLine[], part: 'rule' | 'route'): readonly string[] => {
    const texts = new Set(others.filter((one) => one.family === family && one.part === part).map(({ text }) => text));
    return ones.flatMap((one) => (one.family === family && one.part === part && !texts.has(one.text) ? [one.text] : []));
  };
  return [
    ...differing(wanted, present, 'route').map((text) => `route add ${text} proto ${PROTOCOL}`),
    ...differing(wanted, present, 'rule').map((text) => `rule add ${text} protocol ${PROTOCOL}`),
    ...differing(present, wanted, 'rule').map((text) => `rule delete ${text} protocol ${PROTOCOL}`),
    ...differing(present, wanted, 'route').map((text) => `route delete ${text} proto ${PROTOCOL}`),
  ];
}
