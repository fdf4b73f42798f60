import type { AddressReply, DnsRequest, InterfaceReply, RouteRequest } from './agent-protocol.ts';
import { CniError } from './cni-error.ts';
import type { NetworkConfiguration } from './invocation.ts';
import { isAtLeast } from './versions.ts';

/** The success result of ADD (section 5 of the specification), as JSON. */
export interface Result {
  readonly cniVersion: string;
  readonly interfaces?: readonly object[];
  readonly ips: readonly object[];
  readonly routes: readonly RouteRequest[];
  readonly dns: DnsRequest;
}

/**
 * The agent's reply as a result in the version of the configuration. An interface is named only where this plugin made it: another plugin
 * that asked for addresses alone names its own.
 *
 * @throws CniError for a reply without addresses that a result needs
 */
export function resultOf(reply: InterfaceReply, configuration: NetworkConfiguration, sandbox: string, interfaceName: string): Result {
  const { version, addressesOnly } = configuration;
  const addresses = reply.ips ?? [];
  const withInterface = !addressesOnly;
  return {
    cniVersion: version,
    ...(withInterface
      ? {
          interfaces: [
            {
              name: reply.nicname || interfaceName,
              mac: reply.mac_address ?? '',
              ...(isAtLeast(version, '1.1.0') && (reply.mtu ?? 0) > 0 ? { mtu: reply.mtu } : {}),
              sandbox,
            },
          ],
        }
      : {}),
    ips: addresses.map((address) => ({
      ...(isAtLeast(version, '1.0.0') ? {} : { version: address.protocol === 'IPv6' ? '6' : '4' }),
      ...(withInterface ? { interface: 0 } : {}),
      address: `${address.ip}/${prefixLength(address)}`,
      ...(address.gateway ? { gateway: address.gateway } : {}),
    })),
    routes: routesOf(reply, addresses),
    dns: configuration.dns ?? {},
  };
}

/** The agent's routes; without any, a default route for each address with a gateway. */
function routesOf(reply: InterfaceReply, addresses: readonly AddressReply[]): readonly RouteRequest[] {
  const given = reply.routes ?? [];
  if (given.length > 0) return given.map(({ dst, gw }) => ({ dst, gw }));
  return addresses.flatMap(({ protocol, gateway }) => (gateway ? [{ dst: protocol === 'IPv6' ? '::/0' : '0.0.0.0/0', gw: gateway }] : []));
}

function prefixLength({ ip, cidr }: AddressReply): string {
  const length = /\/(\d{1,3})$/.exec(cidr)?.[1];
  if (length === undefined) throw new CniError('undecodable', `the node agent answered address ${ip} with CIDR ${JSON.stringify(cidr)}`);
  return length;
}
