/**
 * An address for `kiln release`: of an IP object, a Vip or an EIP, with its users and the command that reserves it again.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/resource.ts';
import { joinDual } from '../../../net/dual.ts';
import type { AddressResource } from '../../../world/address-objects.ts';
import type { ResourceName } from '../../../world/resources.ts';
import type { Settings } from '../../../world/settings.ts';
import { traitsOf } from '../../../world/resources.ts';
import { CommandFailure, EXIT } from '../../../cli/errors/command-failure.ts';
import { addressesOf, namedObject, NAMED_KINDS, usersOfObject } from './vip-or-eip.ts';
import { usersOf } from './ip-users.ts';
import type { OutputFormat } from '../../../cli/output/object-output.ts';
import { objectText } from '../../../cli/output/object-output.ts';
import type { Output } from '../../../cli/output/terminal.ts';
import { addressOutput, addressText, IPS } from './reserved-address.ts';
import { commandText } from '../../../text/command-text.ts';

export interface AddressToRelease {
  readonly resource: ResourceName;
  readonly object: KubeObject;
  /** As text; empty without an address. */
  readonly address: string;
  readonly subnet: string;
  readonly users: () => Promise<readonly string[]>;
  readonly output: (format: OutputFormat) => Output;
  /** The command that requests the same address. */
  readonly undo: string;
}

/**
 * @param settings those of the controller
 * @throws CommandFailure if the object does not exist
 */
export async function addressToRelease(target: string, client: KubeClient, settings: () => Promise<Settings>): Promise<AddressToRelease> {
  const named = namedObject(target);
  if (named !== undefined) return await ofObject(named.resource, named.name, client, await settings());
  const ip = target.includes('/') ? undefined : await client.find<IP>(IPS, { name: target });
  if (ip !== undefined) return ofIp(ip, client);
  const why = target.includes('/')
    ? `"${target}" is neither the name of an IP object nor <kind>/<name> with one of ${NAMED_KINDS}`
    : `IP ${target} does not exist`;
  throw new CommandFailure(
    EXIT.findings,
    'there is no address to release',
    why,
    target.includes('/') ? 'kubectl get vips,ovn-eips,iptables-eips' : 'kubectl get ips',
  );
}

function ofIp(ip: IP, client: KubeClient): AddressToRelease {
  const { podName = '', namespace = '', subnet = '', macAddress = '' } = ip.spec;
  const address = addressText(ip);
  const flags = Object.entries({ subnet, ip: address, mac: macAddress, lease: leaseOf(ip) }).filter(([, value]) => value !== '');
  return {
    resource: 'ips',
    object: ip,
    address,
    subnet,
    users: () => usersOf(ip, client),
    output: (format) => addressOutput(format, ip),
    undo: [commandText`kiln reserve ${podName} -n ${namespace}`, ...flags.map(([flag, value]) => commandText`--${flag} ${value}`)].join(
      ' ',
    ),
  };
}

async function ofObject(resource: AddressResource, name: string, client: KubeClient, settings: Settings): Promise<AddressToRelease> {
  const traits = traitsOf(resource);
  const found = await client.find(traits, { name });
  if (found === undefined)
    throw new CommandFailure(
      EXIT.findings,
      'there is no address to release',
      `${traits.kind} ${name} does not exist`,
      commandText`kubectl get ${traits.plural}`,
    );
  const object = addressesOf(resource, { spec: {}, ...found }, settings);
  const { v4, v6, mac } = object.held ?? { v4: '', v6: '', mac: '' };
  const lease = leaseOf(found);
  return {
    resource,
    object: found,
    address: joinDual({ v4, v6 }),
    subnet: object.subnet,
    users: () => usersOfObject(object, client),
    output: (format) =>
      objectText(format, found, `${traits.plural.replace(/s$/, '')}.${traits.group}`, [
        { header: 'NAME', value: name },
        { header: 'V4IP', value: v4 },
        { header: 'V6IP', value: v6 },
        { header: 'MAC', value: mac },
        { header: 'SUBNET', value: object.subnet },
        { header: 'LEASE', value: lease },
      ]),
    undo: `create ${traits.kind} ${name} again with ${[joinDual({ v4, v6 }), mac].filter((one) => one !== '').join(' and ')} in its spec${lease === '' ? '' : `, and annotation ${kilnAnnotation.lease} "${lease}"`}`,
  };
}

/** The field as written; empty if absent. */
function leaseOf({
  metadata,
}: {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | null | undefined };
}): string {
  return (metadata.annotations?.[kilnAnnotation.lease] ?? '').trim();
}
