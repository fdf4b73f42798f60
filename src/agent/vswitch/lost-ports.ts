/**
 * Ports that are taken away since another program deleted their device. ovs-vswitchd compares by name: if it reads that a port went and came in one,
 * nothing has changed to it, and no device comes. So the port comes again only after ovs-vswitchd has said that the former one is gone.
 */
import { mutate, type Operation } from '../../ovsdb/operation.ts';
import type { Replica } from '../../ovsdb/replica.ts';
import type { Row } from '../../ovsdb/value.ts';

export class LostPorts {
  readonly #replica: Replica;
  /** By identity of the port: the configuration without it, as `next_cfg` counted. */
  readonly #without = new Map<string, number>();

  constructor(replica: Replica) {
    this.#replica = replica;
  }

  /** In the transaction that removes the port: ovs-vswitchd writes `cur_cfg` once it has carried out what was asked by then. */
  question(): readonly Operation[] {
    const row = this.#row();
    return row === undefined ? [] : [mutate('Open_vSwitch', row._uuid, [{ column: 'next_cfg', mutator: '+=', value: 1 }])];
  }

  /** The transaction has taken effect. */
  removed(id: string): void {
    for (const other of this.#without.keys()) this.isOpen(other);
    this.#without.set(id, this.#count('next_cfg'));
  }

  /** Whether ovs-vswitchd may still have the former port, so that another one must not come yet. */
  isOpen(id: string): boolean {
    const asked = this.#without.get(id);
    if (asked === undefined) return false;
    // Fewer than were asked: it is another database, which never had the port.
    const now = this.#count('next_cfg');
    if (this.#count('cur_cfg') < asked && asked <= now) return true;
    this.#without.delete(id);
    return false;
  }

  #count(column: 'next_cfg' | 'cur_cfg'): number {
    const value = this.#row()?.[column];
    return typeof value === 'number' ? value : 0;
  }

  #row(): Row | undefined {
    return this.#replica.table('Open_vSwitch').values().next().value;
  }
}
