/** The devices of the node with their addresses and routes, by `ip -json`. */
import { canonicalAddress } from '../../net/address.ts';
import type { Programs } from '../kernel/programs.ts';
import type { HostLink } from '../world/provider-network.ts';

interface LinkJson {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly master?: string;
  readonly addr_info?: readonly {
    readonly local?: string;
    readonly prefixlen?: number;
    readonly scope?: string;
    readonly broadcast?: string;
    readonly temporary?: boolean;
  }[];
}

interface RouteJson {
  readonly dst?: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly prefsrc?: string;
  readonly metric?: number;
  readonly protocol?: string;
  readonly scope?: string;
  readonly flags?: readonly string[];
}

/** @throws Error with the reason of `ip` */
export async function hostLinks(programs: Programs): Promise<ReadonlyMap<string, HostLink>> {
  const links = await listed<LinkJson>(programs, ['ip', '-json', 'address', 'show']);
  const routes = [
    ...(await listed<RouteJson>(programs, ['ip', '-json', '-4', 'route', 'show'])).map(
      (route) => [route, routeOf(route, '0.0.0.0/0')] as const,
    ),
    ...(await listed<RouteJson>(programs, ['ip', '-json', '-6', 'route', 'show'])).map((route) => [route, routeOf(route, '::/0')] as const),
  ];
  return new Map(
    links.map(({ ifname = '', address = '', mtu = 0, flags = [], master = '', addr_info: info = [] }) => [
      ifname,
      {
        mac: address,
        mtu,
        up: flags.includes('UP'),
        master,
        addresses: info
          .filter(({ scope, temporary }) => scope !== 'link' && temporary !== true)
          .map(({ local = '', prefixlen = 0, broadcast }) => {
            const text = `${canonicalAddress(local) ?? local}/${prefixlen}`;
            return broadcast === undefined ? text : `${text} brd ${broadcast}`;
          })
          .toSorted(),
        routes: routes.flatMap(([{ dev }, text]) => (dev === ifname && text !== undefined ? [text] : [])).toSorted(),
      },
    ]),
  );
}

/** Undefined for a route that the kernel makes of an address, or of what a router announces. */
function routeOf({ dst = '', gateway, prefsrc, metric, protocol, scope, flags = [] }: RouteJson, anywhere: string): string | undefined {
  if (protocol === 'kernel' || protocol === 'ra' || dst.startsWith('fe80:')) return undefined;
  const words = [
    dst === 'default' ? anywhere : dst,
    ...(gateway === undefined ? [] : ['via', gateway]),
    ...(protocol === undefined || protocol === 'boot' ? [] : ['proto', protocol]),
    ...(scope === undefined || scope === 'global' || gateway !== undefined ? [] : ['scope', scope]),
    ...(prefsrc === undefined ? [] : ['src', prefsrc]),
    ...(metric === undefined ? [] : ['metric', String(metric)]),
    ...(flags.includes('onlink') ? ['onlink'] : []),
  ];
  return words.join(' ');
}

async function listed<T>(programs: Programs, command: readonly [string, ...string[]]): Promise<readonly T[]> {
  const ran = await programs.run(command);
  if (!ran.ok) throw new Error(`${command.join(' ')}: ${ran.message}`);
  return ran.output.trim() === '' ? [] : (JSON.parse(ran.output) as readonly T[]);
}
