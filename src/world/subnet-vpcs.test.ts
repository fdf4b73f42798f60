import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Subnet } from '../api/kinds/subnet.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import type { ObservedRows, RowsListener } from './observed-rows.ts';
import { Reactor } from '../engine/reactor.ts';
import { SubnetVpcs } from './subnet-vpcs.ts';
import { Table } from '../engine/table.ts';

const OLDER = rowId('Logical_Router_Port', 'v1-side');
const YOUNGER = rowId('Logical_Router_Port', 'v2-side');

/** Router ports of Subnet `side`, with the uid of their Subnet. */
class Ports {
  readonly #uids = new Map<RowId, string>();
  #announce: (id: RowId) => void = () => undefined;
  readonly rows = {
    onChange: ({ row }: RowsListener) => {
      this.#announce = row;
    },
    best: (id: RowId) => {
      const uid = this.#uids.get(id);
      return uid === undefined ? undefined : { ownership: { kind: 'ours', owner: 'subnet//side', uid } };
    },
  } as unknown as ObservedRows;

  set(id: RowId, uid: string | undefined): void {
    if (uid === undefined) this.#uids.delete(id);
    else this.#uids.set(id, uid);
    this.#announce(id);
  }
}

function subnet(vpc: string): Subnet {
  return { metadata: { name: 'side', uid: 'uid-2' }, spec: { vpc } } as unknown as Subnet;
}

test('a Subnet that was created again in another Vpc is in that one, also if the old router port is deleted after the new one exists', () => {
  const reactor = new Reactor();
  const subnets = new Table<Subnet>(reactor, 'subnets', {});
  const ports = new Ports();
  const vpcs = new SubnetVpcs(reactor, subnets, ports.rows, 'ovn-cluster');
  const isIn = (): readonly string[] => ['v1', 'v2', 'v3'].filter((vpc) => vpcs.peekIn(vpc).has('side'));
  ports.set(OLDER, 'uid-1');
  subnets.set('side', subnet('v2'));
  assert.deepEqual(isIn(), ['v2']);
  ports.set(YOUNGER, 'uid-2');
  ports.set(OLDER, undefined);
  subnets.set('side', subnet('v3'));
  assert.deepEqual(isIn(), ['v2']);
  ports.set(YOUNGER, undefined);
  assert.deepEqual(isIn(), ['v3']);
});
