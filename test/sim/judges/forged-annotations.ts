/**
 * A pod that lies has no address that somebody else has, and none of a node's: its port is in no Subnet with an address of another port there, and
 * never in the join Subnet. Read from the rows of the database, by no rule.
 */
import { DEFAULT_SETTINGS } from '../../../src/world/settings.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import type { StoredRow } from '../../../src/ovsdb/testing/simulated/database.ts';
import { LIES } from '../draw/forged-annotations.ts';
import type { Finding } from './judge.ts';

interface Port {
  readonly name: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly owner: string;
}

export function liesBelieved(store: ObjectStore, rows: Iterable<StoredRow>): readonly Finding[] {
  const liars = store.list('pods').filter(({ metadata }) => metadata.labels?.[LIES] === 'true');
  if (liars.length === 0) return [];
  const ports = [...rows].flatMap(portOf);
  return liars.flatMap(({ metadata: { name, namespace = '' } }) => {
    const owner = `pod/${namespace}/${name}`;
    return ports
      .filter((port) => port.owner === owner)
      .flatMap((port): readonly Finding[] => {
        const believed = (what: string): Finding => ({
          kind: 'I1 a lie believed',
          message: `I1: Pod ${namespace}/${name}, which lies, ${what}`,
        });
        if (port.subnet === DEFAULT_SETTINGS.joinSubnet)
          return [believed(`has a port in Subnet ${port.subnet}: ${port.addresses.join(', ')}`)];
        const others = ports.filter((other) => other.name !== port.name && other.subnet === port.subnet);
        return others.flatMap((other) =>
          other.addresses
            .filter((address) => port.addresses.includes(address))
            .map((address) => believed(`has ${address} of Subnet ${port.subnet}, which port ${other.name} has`)),
        );
      });
  });
}

function portOf(row: StoredRow): readonly Port[] {
  const [marks, stations] = [row['external_ids'], row['addresses']];
  if (!(marks instanceof Map) || !(stations instanceof Set) || row['type'] !== '') return [];
  const mark = (key: string): string => String((marks as ReadonlyMap<unknown, unknown>).get(key) ?? '');
  const addresses = [...stations].flatMap((station) => String(station).split(' ').slice(1));
  return [{ name: String(row['name']), subnet: mark('ls'), addresses, owner: mark('kiln.io/owner') }];
}
