import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { northboundSchemaFile } from '../../src/ovsdb/testing/ovsdb-server-process.ts';
import type { Clock, Uuid } from '../../src/ovsdb/index.ts';
import { parseEndpoint } from '../../src/ovsdb/endpoint.ts';
import type { Wire } from '../../src/ovsdb/transport.ts';
import { SimulatedServer } from '../../src/ovsdb/testing/simulated/server.ts';
import { notAskedFirst, wroteInVain } from './asked-first.ts';
import { byUuid } from './row-by-hand.ts';

const TERM = {
  op: 'wait',
  table: 'NB_Global',
  where: [['external_ids', 'includes', ['map', [['kiln.io/term', '4']]]]],
  columns: ['_uuid'],
};
const COMMENT = { op: 'comment', comment: 'kiln: term 4, 1 rows, first Port_Group/g' };
const MARKS = [
  ['kiln.io/owner', 'node//n0'],
  ['kiln.io/uid', 'u'],
  ['vendor', 'kube-ovn'],
];

function group(): { readonly server: SimulatedServer; readonly uuid: Uuid } {
  const schemaJson: unknown = JSON.parse(readFileSync(northboundSchemaFile, 'utf8'));
  const server = new SimulatedServer({
    schemaJson,
    clock: { now: () => 0, schedule: () => () => undefined },
    newUuid: () => randomUUID() as Uuid,
  });
  const row = { name: 'g', external_ids: ['map', MARKS] };
  const [difference] = server.transact([{ op: 'insert', table: 'Port_Group', row }]).differences;
  assert(difference !== undefined);
  return { server, uuid: difference.uuid };
}

function wrong(guards: readonly object[], change: (uuid: Uuid) => object, fence: readonly object[] = [TERM]): readonly string[] {
  const { server, uuid } = group();
  const placed = guards.map((guard) => ({
    ...guard,
    where: [...(byUuid(uuid) as unknown[]), ...((guard as { where?: unknown[] }).where ?? [])],
  }));
  return notAskedFirst(server.database, [...fence, ...placed, change(uuid), COMMENT]);
}

const OWNED = { op: 'wait', table: 'Port_Group', columns: ['_uuid'], where: [['external_ids', 'includes', ['map', MARKS]]] };
const ANY = { op: 'wait', table: 'Port_Group', columns: ['_uuid'] };
const EMPTY = ['acls'].map((column) => ({ op: 'wait', table: 'Port_Group', columns: [column] }));
const update = (uuid: Uuid): object => ({ op: 'update', table: 'Port_Group', where: byUuid(uuid), row: {} });
const away = (uuid: Uuid): object => ({ op: 'delete', table: 'Port_Group', where: byUuid(uuid) });

test('A transaction asks for its term first, and for the owner of each row that it changes', () => {
  assert.deepEqual(wrong([OWNED], update), []);
  assert.match(wrong([OWNED], update, []).join(), /does not ask for its term first/);
  assert.match(wrong([], update).join(), /has not asked whose Port_Group g is/);
  assert.match(wrong([ANY], update).join(), /has not asked whose Port_Group g is/);
});

test('Who deletes a row has asked what is in it', () => {
  assert.deepEqual(wrong([OWNED, ...EMPTY], away), []);
  assert.match(wrong([OWNED], away).join(), /has not asked what is in it/);
});

/** Each message is under way for a millisecond. */
class Line implements Clock {
  readonly #due: { readonly at: number; readonly run: () => void }[] = [];
  #now = 0;

  now(): number {
    return this.#now;
  }

  schedule(ms: number, run: () => void): () => void {
    this.#due.push({ at: this.#now + ms, run });
    return () => undefined;
  }

  pass(ms: number): void {
    const until = this.#now + ms;
    for (let next = this.#due[0]; next !== undefined && next.at <= until; next = this.#due[0]) {
      this.#due.shift();
      this.#now = next.at;
      next.run();
    }
    this.#now = until;
  }
}

test('What somebody else wrote a moment ago is not written in vain; what the sender has heard of, or wrote itself, is', () => {
  const schemaJson: unknown = JSON.parse(readFileSync(northboundSchemaFile, 'utf8'));
  const clock = new Line();
  const vain: string[] = [];
  const server = new SimulatedServer({
    schemaJson,
    clock,
    newUuid: () => randomUUID() as Uuid,
    latency: () => 1,
    onTransaction: (execution, operations, client, unheard) => {
      if (client !== undefined) vain.push(...wroteInVain(execution, operations, unheard));
    },
  });
  const [difference] = server.transact([{ op: 'insert', table: 'Port_Group', row: { name: 'g' } }]).differences;
  assert(difference !== undefined);
  const named = (name: string): object => ({ op: 'update', table: 'Port_Group', where: byUuid(difference.uuid), row: { name } });
  const send = (method: string, ...params: readonly unknown[]): void => wire?.send?.({ method, params, id: randomUUID() });
  const transact = (name: string): void => send('transact', 'OVN_Northbound', named(name));
  let wire: Wire | undefined;
  server.dialFor('a')(
    parseEndpoint('tcp:127.0.0.1:6641'),
    undefined,
    0,
    clock,
    (open) => (wire = open),
    () => assert.fail(),
  );
  clock.pass(5);
  send('monitor_cond_since', 'OVN_Northbound', 'm', { Port_Group: [{ columns: ['name'] }] }, randomUUID());
  clock.pass(5);

  server.transact([named('h')]);
  transact('h');
  clock.pass(5);
  assert.deepEqual(vain, []);

  server.transact([named('i')]);
  clock.pass(2);
  transact('i');
  clock.pass(5);
  assert.match(vain.splice(0).join(), /^writes what is there/);

  transact('j');
  transact('j');
  clock.pass(5);
  assert.match(vain.splice(0).join(), /^writes what is there/);
});
