/**
 * What holds an address, kept up from the World's tables: IP objects, live pods' allocated annotations, owned port rows.
 * Reservations are the allocation step's own.
 */
import type { Pod } from '../api/core.ts';
import type { IP } from '../api/ip.ts';
import { isAlive, lostAt, machineNameOf, ordinalOf } from '../compile/pod/pod-life.ts';
import type { Holder } from '../ipam/holder.ts';
import type { Ledger } from '../ipam/ledger.ts';
import { parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId, tableOf } from '../nb/row-id.ts';
import { claimantOfIp, claimantOfPort, heldTexts } from '../world/claimants.ts';
import { portName } from '../api/names.ts';
import { keyOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

const ALLOCATED = '.kubernetes.io/allocated';

export class Holders {
  readonly #world: World;
  readonly #ledger: Ledger;
  /** Holder keys of a pod by its uid, so that what it no longer has is released. */
  readonly #podHolders = new Map<string, Set<string>>();
  /** When terminating pods that hold something stop holding it, in milliseconds since the epoch. */
  readonly #leaving = new Map<string, number>();
  /** The earliest of them, or earlier. */
  #nextLeaving = Infinity;
  readonly #rowHolders = new Map<RowId, string>();

  constructor(world: World, ledger: Ledger) {
    this.#world = world;
    this.#ledger = ledger;
    world.ips.onChange((key, after, before) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) ledger.release('ip', before.metadata.uid);
      if (after !== undefined) this.#holdIp(after);
      this.#rename(key, after ?? before);
    });
    world.pods.onChange((key, after, before) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#releasePod(before.metadata.uid);
      if (after === undefined) {
        this.#leaving.delete(key);
        return;
      }
      this.#holdPod(after);
      // Rows may be seen before their pod, and only the pod says whether its claim outlives it.
      if (before?.metadata.uid !== after.metadata.uid) for (const id of world.rows.ownedBy(`pod/${key}`)) this.#holdRow(id);
    });
    world.rows.onChange({ row: (id) => this.#holdRow(id), member: () => undefined });
  }

  #holdIp(ip: IP): void {
    const { subnet, macAddress } = ip.spec;
    const addresses = parsed(heldTexts(ip));
    if (subnet === undefined || subnet === '' || addresses.length === 0) {
      this.#ledger.release('ip', ip.metadata.uid);
      return;
    }
    this.#hold(
      subnet,
      { kind: 'ip', key: ip.metadata.uid, claimant: claimantOfIp(ip), rank: Date.parse(ip.metadata.creationTimestamp) },
      addresses,
      macAddress,
    );
  }

  /** A pod holds what its annotations say while it lives, whatever became of its IP object. */
  #holdPod(pod: Pod): void {
    const { uid, name, namespace = '', annotations = {}, creationTimestamp } = pod.metadata;
    const held = new Set<string>();
    if (isAlive(pod, (moment) => this.#world.deadlines.passed(moment))) {
      for (const key of Object.keys(annotations)) {
        if (!key.endsWith(ALLOCATED) || annotations[key] !== 'true') continue;
        const provider = key.slice(0, -ALLOCATED.length);
        const subnet = annotations[`${provider}.kubernetes.io/logical_switch`];
        const addresses = parsed(splitList(annotations[`${provider}.kubernetes.io/ip_address`] ?? ''));
        if (subnet === undefined || addresses.length === 0) continue;
        const port = portName(machineNameOf(pod, this.#world.settings) ?? name, namespace, provider);
        const claimant = claimantOfPort(port, this.#world.ips.peek(port), uid, this.#isKept(pod));
        this.#hold(
          subnet,
          { kind: 'pod', key: `${uid}/${provider}`, claimant, rank: Date.parse(creationTimestamp) },
          addresses,
          annotations[`${provider}.kubernetes.io/mac_address`],
        );
        held.add(`${uid}/${provider}`);
      }
    }
    for (const key of this.#podHolders.get(uid) ?? []) if (!held.has(key)) this.#ledger.release('pod', key);
    if (held.size > 0) this.#podHolders.set(uid, held);
    else this.#podHolders.delete(uid);
    const leaves = held.size > 0 ? lostAt(pod) : undefined;
    if (leaves === undefined) this.#leaving.delete(keyOf(pod));
    else {
      this.#leaving.set(keyOf(pod), leaves);
      this.#nextLeaving = Math.min(this.#nextLeaving, leaves);
    }
  }

  /** A pod on a lost node stops holding when its time is over, though nothing about it changed. */
  expire(): void {
    const { deadlines, pods } = this.#world;
    if (this.#nextLeaving === Infinity || !deadlines.passed(this.#nextLeaving)) return;
    this.#nextLeaving = Infinity;
    for (const [key, leaves] of this.#leaving) {
      if (!deadlines.passed(leaves)) {
        this.#nextLeaving = Math.min(this.#nextLeaving, leaves);
        continue;
      }
      this.#leaving.delete(key);
      const pod = pods.peek(key);
      if (pod !== undefined) this.#holdPod(pod);
    }
  }

  #releasePod(uid: string): void {
    for (const key of this.#podHolders.get(uid) ?? []) this.#ledger.release('pod', key);
    this.#podHolders.delete(uid);
  }

  #holdRow(id: RowId): void {
    if (tableOf(id) !== 'Logical_Switch_Port') return;
    const row = this.#world.rows.best(id);
    const before = this.#rowHolders.get(id);
    const port = identityOf(id);
    const addresses: Address[] = [];
    let mac: string | undefined;
    if (row?.ownership.kind === 'ours' && row.row.type === '' && row.row.addresses instanceof Set) {
      for (const entry of row.row.addresses) {
        const [first, ...rest] = String(entry).split(' ');
        mac ??= first;
        addresses.push(...parsed(rest));
      }
    }
    const key = row === undefined || addresses.length === 0 ? undefined : row.uuid;
    if (before !== undefined && before !== key) this.#ledger.release('row', before);
    if (key === undefined || row?.ownership.kind !== 'ours') {
      this.#rowHolders.delete(id);
      return;
    }
    const externalIds = row.row.external_ids;
    const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
    if (typeof subnet !== 'string') return;
    const pod = podNamed(row.ownership.owner);
    const owner = pod === undefined ? undefined : this.#world.pods.peek(pod);
    const claimant = claimantOfPort(
      port,
      this.#world.ips.peek(port),
      pod === undefined ? undefined : row.ownership.uid,
      owner !== undefined && this.#isKept(owner),
    );
    this.#hold(subnet, { kind: 'row', key, claimant }, addresses, mac);
    this.#rowHolders.set(id, key);
  }

  /** What an IP object says changes the claimant of its pod and its row. */
  #rename(port: string, ip: IP | undefined): void {
    if (ip === undefined) return;
    const key = `${ip.spec.namespace}/${ip.spec.podName}`;
    for (const one of [key, ...this.#world.pods.peekBucket('instance', key)]) {
      const pod = this.#world.pods.peek(one);
      if (pod !== undefined) this.#holdPod(pod);
    }
    this.#holdRow(rowId('Logical_Switch_Port', port));
  }

  /** Whether its addresses outlive it. */
  #isKept(pod: Pod): boolean {
    return ordinalOf(pod) !== undefined || machineNameOf(pod, this.#world.settings) !== undefined;
  }

  #hold(subnet: string, holder: Holder, addresses: readonly Address[], macText: string | undefined): void {
    const mac: Mac | undefined = macText === undefined || macText === '' ? undefined : parseMac(macText);
    this.#ledger.hold(subnet, holder, { addresses, ...(mac === undefined ? {} : { mac }) });
  }
}

/** Key of the pod that an owner text names; undefined for an owner of another kind. */
function podNamed(owner: string): string | undefined {
  return owner.startsWith('pod/') ? owner.slice('pod/'.length) : undefined;
}

function parsed(texts: readonly string[]): Address[] {
  return texts.flatMap((text) => parseAddress(text.trim()) ?? []);
}
