/** For tests only: a ledger beside the plain oracle. Both run each operation, and every answer must be equal. */

import assert from 'node:assert/strict';
import { formatAddress, parseAddress } from '../../net/address.ts';
import type { Address } from '../../net/address.ts';
import { macFromNumber } from '../../net/mac.ts';
import type { Mac } from '../../net/mac.ts';
import type { Allocation, AllocationRequest } from '../allocation.ts';
import type { Holder } from '../holder.ts';
import { Ledger } from '../ledger.ts';
import { Oracle } from './ledger-oracle.ts';
import type { SubnetSpec } from '../subnet-spec.ts';

export type Operation =
  | { op: 'upsert'; subnet: string; spec: SubnetSpec }
  | { op: 'remove'; subnet: string }
  | { op: 'hold'; subnet: string; holder: Holder; addresses: Address[]; mac: Mac | undefined }
  | { op: 'release'; subnet: string | undefined; holder: Holder }
  | { op: 'leave'; subnet: string; holder: Holder }
  | { op: 'allocate'; subnet: string; request: AllocationRequest };

/** Uses the Subnets `s` and `t`. */
export class Pair {
  readonly ledger: Ledger;
  readonly oracle: Oracle;
  /** Subnets that `onChanged` named during the last operation. */
  readonly changed = new Set<string>();

  constructor(rememberFreed: number) {
    this.ledger = new Ledger({ rememberFreed, onChanged: (subnet) => this.changed.add(subnet) });
    this.oracle = new Oracle(rememberFreed);
  }

  /** The ledger's answer to an allocation. */
  perform(operation: Operation): Allocation | undefined {
    const { ledger, oracle } = this;
    this.changed.clear();
    switch (operation.op) {
      case 'upsert':
        ledger.upsertSubnet(operation.subnet, operation.spec);
        oracle.upsert(operation.subnet, operation.spec);
        return undefined;
      case 'remove':
        ledger.removeSubnet(operation.subnet);
        oracle.remove(operation.subnet);
        return undefined;
      case 'hold':
        ledger.hold(operation.subnet, operation.holder, { addresses: operation.addresses, ...(operation.mac && { mac: operation.mac }) });
        oracle.hold(operation.subnet, operation.holder, operation.addresses, operation.mac);
        return undefined;
      case 'release':
        assert.equal(
          ledger.release(operation.holder.kind, operation.holder.key, operation.subnet),
          oracle.release(operation.holder, operation.subnet),
        );
        return undefined;
      case 'leave':
        assert.equal(
          ledger.releaseElsewhere(operation.holder.kind, operation.holder.key, operation.subnet),
          oracle.releaseElsewhere(operation.holder, operation.subnet),
        );
        return undefined;
      case 'allocate': {
        const result = ledger.allocate(operation.subnet, operation.request);
        const text = (one: Address | undefined): string => (one === undefined ? '' : formatAddress(one));
        const answer = result.ok
          ? { ok: true, v4: text(result.v4), v6: text(result.v6), mac: result.mac ?? '' }
          : { ok: false, code: result.code };
        assert.deepEqual(answer, oracle.allocate(operation.subnet, operation.request));
        return result;
      }
    }
  }

  /** Performs an operation; checks that a change of usage is reported, and a Subnet in which a failed request has another answer. */
  performWatched(operation: Operation): void {
    const shown = (name: string): readonly string[] => [JSON.stringify(this.usageOf(name)), JSON.stringify(this.#failuresIn(name))];
    const before = new Map(['s', 't'].map((name) => [name, shown(name)]));
    this.ledger.takeChanged();
    this.perform(operation);
    const changed = this.ledger.takeChanged();
    for (const [name, [usage, failures]] of before) {
      const [usageNow, failuresNow] = shown(name);
      if (usageNow !== usage) assert.ok(changed.includes(name), 'a change of usage that is not reported');
      if (failuresNow !== failures) assert.ok(this.changed.has(name), `an answer in ${name} changed, and that is not reported`);
    }
  }

  /** How requests of a claimant without addresses fail; undefined for each that would be granted. */
  #failuresIn(name: string): unknown[] {
    const holder: Holder = { kind: 'reservation', key: 'waiting', claimant: 'waiting' };
    const [v4, v6, mac] = [parseAddress('10.0.0.3'), parseAddress('fd00::3'), macFromNumber(0x0a_00_00_00_00_02)];
    const requests: AllocationRequest[] = [
      { holder },
      { holder, pools: ['p', ''] },
      { holder, mac },
      { holder, static: { ...(v4 && { v4 }) } },
      { holder: { ...holder, sharingGroup: 'vip' }, static: { ...(v6 && { v6 }) }, families: 'IPv6' },
    ];
    return requests.map((request) => this.ledger.check(name, request)?.message);
  }

  usageOf(name: string): unknown[] {
    return ([4, 6] as const).map((family) => {
      const counts = this.oracle.usage(name, family);
      return counts === undefined ? undefined : { ...counts, available: String(counts.available), using: String(counts.using) };
    });
  }

  compare(): void {
    for (const name of ['s', 't']) {
      const { ledger, oracle } = this;
      const usage = ledger.usage(name);
      assert.deepEqual({ v4: usage?.v4, v6: usage?.v6 }, { v4: oracle.usage(name, 4), v6: oracle.usage(name, 6) });
      for (const [pool, families] of usage?.pools ?? []) {
        for (const family of [4, 6] as const) {
          const none = { available: 0n, using: 0n, availableRange: '', usingRange: '' };
          assert.deepEqual(families[family === 4 ? 'v4' : 'v6'] ?? none, oracle.usage(name, family, pool) ?? none, `pool ${pool}`);
        }
      }
      const conflicts = ledger.conflicts(name);
      const items = conflicts.map(({ subject }): string => (subject.kind === 'mac' ? subject.mac : formatAddress(subject.address)));
      assert.deepEqual(items.toSorted(asText), oracle.conflicts(name));
      assert.equal(ledger.hasConflicts(name), conflicts.length > 0);
      for (const { holders } of conflicts)
        assert.deepEqual(
          holders,
          holders.toSorted((a, b) => (a.rank ?? 1e9) - (b.rank ?? 1e9)),
        );
      const claimants = oracle.claimants(name);
      for (const limit of [1_000, 3]) {
        const { first, count } = ledger.holdersIn(name, limit);
        assert.deepEqual(
          first.map(({ claimant }) => claimant),
          claimants.slice(0, limit),
        );
        assert.equal(count, claimants.length);
      }
    }
  }
}

function asText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
