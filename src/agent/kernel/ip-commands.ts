/** The commands that make a device as it should be. Pure. */
import type { DeviceOutput, DeviceRoute, LinkOutput } from '../world/outputs.ts';
import type { ObservedDevice } from '../world/node-world.ts';
import { linkAlias } from './link-alias.ts';
import { inNamespace } from './programs.ts';

export interface Command {
  readonly command: readonly [string, ...string[]];
  readonly input?: string;
}

const QUEUE_LENGTH = '1000';

/** From what is observed to what should be; empty if they are equal. */
export function deviceCommands(output: DeviceOutput, observed: ObservedDevice): readonly Command[] {
  if (observed.kind === 'present' && isAsDesired(output, observed)) return [];
  const { namespacePath, innerName, addresses, checksumOffload } = output;
  const inside = (...command: readonly [string, ...string[]]): Command => ({ command: inNamespace(namespacePath, ...command) });
  return [
    ...(observed.kind === 'present' ? [] : pairCommands(output)),
    // A container runtime may have switched IPv6 off for all interfaces.
    ...(addresses.some(isV6)
      ? [
          inside(
            'sysctl',
            '-qw',
            'net.ipv6.conf.all.disable_ipv6=0',
            'net.ipv6.conf.default.disable_ipv6=0',
            `net.ipv6.conf.${sysctlName(innerName)}.accept_ra=0`,
          ),
        ]
      : []),
    { command: inNamespace(namespacePath, 'ip', '-batch', '-'), input: `${innerLines(output, observed).join('\n')}\n` },
    ...(checksumOffload ? [] : [inside('ethtool', '-K', innerName, 'tx', 'off')]),
  ];
}

/** Whether nothing has to be written. */
export function isAsDesired(output: DeviceOutput | LinkOutput, observed: ObservedDevice & { readonly kind: 'present' }): boolean {
  const { mac, mtu, up, addresses, routes } = observed;
  return (
    up &&
    mac === output.mac &&
    mtu === output.mtu &&
    addresses.join() === output.addresses.join() &&
    routeTexts(output).every((route) => routes.includes(route))
  );
}

/** Removes both ends. */
export function removalCommand(name: string): Command {
  return { command: ['ip', 'link', 'delete', 'dev', name] };
}

function routeTexts({ routes }: DeviceOutput | LinkOutput): readonly string[] {
  return routes.map(routeText).toSorted();
}

/** A route as text: `10.0.0.0/8 192.0.2.1`, `10.0.0.0/8 192.0.2.1 src 192.0.2.2`. */
export function routeText({ destination, gateway, source }: DeviceRoute): string {
  return `${destination} ${gateway}${source === undefined ? '' : ` src ${source}`}`;
}

/** The same for a device of the node, which exists. */
export function linkCommands(output: LinkOutput, observed: ObservedDevice & { readonly kind: 'present' }): readonly Command[] {
  const wanted = routeTexts(output);
  const surplus = observed.routes.filter((route) => !wanted.includes(route));
  const sameRoutes = surplus.length === 0 && wanted.length === observed.routes.length;
  const forwarding =
    observed.forwards === true ? [] : [{ command: ['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'] } as const];
  if (forwarding.length === 0 && sameRoutes && isAsDesired(output, observed)) return [];
  const { name, mac, mtu, addresses, routes } = output;
  const lines = [
    ...(observed.mac === mac ? [] : [`link set dev ${name} address ${mac}`]),
    ...(observed.mtu === mtu ? [] : [`link set dev ${name} mtu ${mtu}`]),
    ...(observed.up ? [] : [`link set dev ${name} up`]),
    ...observed.addresses.filter((address) => !addresses.includes(address)).map((address) => `address delete ${address} dev ${name}`),
    ...addresses.filter((address) => !observed.addresses.includes(address)).map((address) => `address add ${address} dev ${name}`),
    ...surplus.map((route) => `route delete ${route.replace(' ', ' via ')} dev ${name}`),
    ...routes
      .filter((route) => !observed.routes.includes(routeText(route)))
      .map((route) => `route replace ${routeText(route).replace(' ', ' via ')} dev ${name}`),
  ];
  return [...forwarding, ...(lines.length === 0 ? [] : [{ command: ['ip', '-batch', '-'], input: `${lines.join('\n')}\n` } as const])];
}

function pairCommands({ name, attachment, mtu, mac, innerName, namespacePath }: DeviceOutput): readonly Command[] {
  const size = ['mtu', String(mtu)];
  return [
    {
      command: [
        'ip',
        'link',
        'add',
        'name',
        name,
        ...size,
        'type',
        'veth',
        'peer',
        'name',
        innerName,
        'address',
        mac,
        ...size,
        'netns',
        namespacePath,
      ],
    },
    { command: ['ip', 'link', 'set', 'dev', name, 'alias', linkAlias(attachment), 'txqueuelen', QUEUE_LENGTH, 'up'] },
  ];
}

function innerLines({ innerName, mac, mtu, addresses, routes }: DeviceOutput, observed: ObservedDevice): readonly string[] {
  const surplus = observed.kind === 'present' ? observed.addresses.filter((address) => !addresses.includes(address)) : [];
  return [
    `link set dev ${innerName} address ${mac}`,
    `link set dev ${innerName} mtu ${mtu}`,
    `link set dev ${innerName} up`,
    ...surplus.map((address) => `address delete ${address} dev ${innerName}`),
    ...addresses.map((address) => `address replace ${address} dev ${innerName}`),
    ...routes.map(({ destination, gateway }) => `route replace ${destination} via ${gateway} dev ${innerName}`),
  ];
}

function isV6(address: string): boolean {
  return address.includes(':');
}

/** sysctl separates with points, so a point in a name is a slash. */
function sysctlName(device: string): string {
  return device.replaceAll('.', '/');
}
