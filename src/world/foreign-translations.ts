/**
 * External addresses that are translated without a rule of Kiln that asks for it: NAT rows, and load balancers with their virtual addresses,
 * of other programs and of Kube-OVN, and those that an undo restored, which may be held. Found by address; kept as rows are observed, and tracked.
 */
import { LEFTOVER_RULE } from '../nb/ownership.ts';
import { waitsForOwner } from '../nb/restored-row.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';
import { bucketOf, putInto, takeOut } from '../engine/bucket.ts';
import type { Reactor } from '../engine/reactor.ts';
import type { Entry } from './row-identity.ts';
import { KeyedSource, Source, SourceMap } from '../engine/source.ts';

type Filed = Pick<Entry, 'id' | 'table' | 'uuid' | 'ownership' | 'row'>;

export class ForeignTranslations {
  readonly #reactor: Reactor;
  readonly #addresses = new Map<Uuid, readonly string[]>();
  readonly #byAddress = new Map<string, Uuid | Set<Uuid>>();
  /** By address: the source of its rows. */
  readonly #sources = new SourceMap();
  readonly #all = new Source();

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** The rows that translate an address. Tracked. */
  at(address: string): ReadonlySet<Uuid> {
    if (this.#reactor.tracking) this.#reactor.track(this.#sources.get(address) ?? new KeyedSource(this.#sources, address));
    return bucketOf(this.#byAddress.get(address));
  }

  /** All such addresses. Tracked. */
  addresses(): Iterable<string> {
    if (this.#reactor.tracking) this.#reactor.track(this.#all);
    return this.#byAddress.keys();
  }

  file(filed: Filed): void {
    const { table, uuid, ownership, row } = filed;
    if (table !== 'NAT' && table !== 'Load_Balancer') return;
    const isEmitted = ownership.kind === 'ours' && ownership.rule !== LEFTOVER_RULE && !waitsForOwner(filed);
    this.#set(uuid, isEmitted ? [] : externalAddresses(table, row));
  }

  forget(uuid: Uuid): void {
    this.#set(uuid, []);
  }

  #set(uuid: Uuid, addresses: readonly string[]): void {
    const before = this.#addresses.get(uuid) ?? [];
    const gone = before.filter((one) => !addresses.includes(one));
    const come = addresses.filter((one) => !before.includes(one));
    if (addresses.length === 0) this.#addresses.delete(uuid);
    else this.#addresses.set(uuid, addresses);
    for (const address of gone) takeOut(this.#byAddress, address, uuid);
    for (const address of come) putInto(this.#byAddress, address, uuid);
    for (const address of [...gone, ...come]) {
      const source = this.#sources.get(address);
      if (source !== undefined) this.#reactor.touch(source);
    }
    if (gone.length + come.length > 0) this.#reactor.touch(this.#all);
  }
}

function externalAddresses(table: string, row: Row): readonly string[] {
  if (table === 'NAT') return canonical(String(row['external_ip'] ?? ''));
  const vips = row['vips'];
  return vips instanceof Map ? [...new Set([...vips.keys()].flatMap((vip) => canonical(virtualAddress(String(vip)).address)))] : [];
}

function canonical(text: string): readonly string[] {
  const address = parseAddress(text);
  return address === undefined ? [] : [formatAddress(address)];
}

/** Address and port of a key of column `vips`; the port is empty for all ports. */
export function virtualAddress(vip: string): { readonly address: string; readonly port: string } {
  const [, bracketed, port = ''] = /^\[(.*)\](?::(\d+))?$/.exec(vip) ?? [];
  if (bracketed !== undefined) return { address: bracketed, port };
  const at = vip.indexOf(':');
  // An IPv6 address without a port has more than one colon.
  return at === -1 || vip.includes(':', at + 1) ? { address: vip, port: '' } : { address: vip.slice(0, at), port: vip.slice(at + 1) };
}
