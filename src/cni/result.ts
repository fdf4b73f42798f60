import type { AddressReply, DnsRequest, InterfaceReply, RouteRequest } from './agent-protocol.ts';
import { CniError } from './cni-error.ts';
import type { NetworkConfiguration } from './invocation.ts';
import { isAtLeast } from './versions.ts';

/** The success result of ADD (section 5 of the specification), as JSON. */
export type Result = AddressedResult | InterfacesResult;

/** Before version 0.3.0: one address of each family, with the routes of that family, and no interface. */
interface AddressedResult {
  readonly cniVersion: string;
  readonly ip4?: object;
  readonly ip6?: object;
  readonly dns: DnsRequest;
}

interface InterfacesResult {
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
  if (!isAtLeast(version, '0.3.0')) return addressedResult(reply, addresses, configuration);
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

function addressedResult(
  reply: InterfaceReply,
  addresses: readonly AddressReply[],
  { version, dns }: NetworkConfiguration,
): AddressedResult {
  const routes = routesOf(reply, addresses);
  const of = (protocol: AddressReply['protocol']): object | undefined => {
    const address = addresses.find((one) => one.protocol === protocol);
    if (address === undefined) return undefined;
    const own = routes.filter(({ dst }) => dst.includes(':') === (protocol === 'IPv6'));
    return {
      ip: `${address.ip}/${prefixLength(address)}`,
      ...(address.gateway ? { gateway: address.gateway } : {}),
      ...(own.length > 0 ? { routes: own } : {}),
    };
  };
  const [ip4, ip6] = [of('IPv4'), of('IPv6')];
  return { cniVersion: version, ...(ip4 && { ip4 }), ...(ip6 && { ip6 }), dns: dns ?? {} };
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
