/**
 * What cannot be known of the addresses in a switch of another program: a port that receives frames for unknown addresses, or whose dynamic
 * address ovn-northd has not chosen yet, may use any. Only told of a Subnet that pods come into.
 */
import { kilnAnnotation } from '../../../api/well-known.ts';
import { identityOf } from '../../../nb/row-id.ts';
import type { Uuid } from '../../../nb/tables.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { switchId } from '../validity/subnet-basics.ts';
import { commandText } from '../../../text/command-text.ts';

/** A sentence; empty if all addresses are known, or no namespace is admitted. Cost: one pass over the ports of the switch. */
export const unknownAddresses: Query<string> = defineQuery('external-subnet-unknown-addresses', (world, name) => {
  const admitted = world.ask(subnetIntent, name)?.metadata.annotations?.[kilnAnnotation.admitNamespaces] ?? '';
  const ports = world.rows.column(switchId(name), 'ports');
  if (admitted.trim() === '' || !(ports instanceof Set)) return '';
  const found: string[] = [];
  for (const uuid of ports as ReadonlySet<Uuid>) {
    const port = world.rows.byUuid(uuid);
    if (port?.ownership.kind !== 'foreign') continue;
    const words = [...wordsOf(world.rows.column(port.id, 'addresses'))];
    const isOpen =
      words.includes('unknown') || (words.includes('dynamic') && wordsOf(world.rows.column(port.id, 'dynamic_addresses')).size === 0);
    if (isOpen) found.push(identityOf(port.id));
  }
  if (found.length === 0) return '';
  const [first = ''] = found.toSorted();
  const more = found.length > 1 ? ` and ${found.length - 1} more` : '';
  return (
    `Subnet ${name}: nothing shows the addresses behind port ${first}${more} of another program; exclude what they use, so that no pod gets it: ` +
    commandText`kubectl edit subnet ${name}`
  );
});

function wordsOf(value: unknown): ReadonlySet<string> {
  const texts = value instanceof Set ? Array.from(value, String) : typeof value === 'string' ? [value] : [];
  return new Set(texts.flatMap((text) => text.split(/\s+/)).filter((word) => word !== ''));
}
