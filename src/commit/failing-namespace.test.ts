import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowOwner, Output, RowOutput } from '../compile/output.ts';
import { rowId } from '../nb/row-id.ts';
import { until } from '../testing/until.ts';
import { sharedNorthbound } from './testing/shared-northbound.ts';

const { writer } = sharedNorthbound();

const cluster: RowOwner = { kind: 'vpc', namespace: '', name: 'r1', uid: 'uid-1', created: '2026-01-01T00:00:00Z' };
const lr = rowId('Logical_Router', 'r1');
const router: RowOutput = { kind: 'row', id: lr, owner: cluster, rule: 'test', columns: { name: 'r1' } };

function policyOf(namespace: string, name: string, priority: number, match: string): RowOutput {
  return {
    kind: 'row',
    id: rowId('Logical_Router_Policy', 'r1', priority, match),
    owner: { ...cluster, kind: 'pod', namespace, name },
    rule: 'test',
    parent: { id: lr, column: 'policies' },
    columns: { priority, match, action: 'allow' },
  };
}

test('failing rows of one namespace, however often they are edited, delay no row of another', async () => {
  const kiln = await writer().start();
  kiln.slow = true;
  let edits = 0;
  let before: readonly Output[] = [];
  let quiet: RowOutput[] = [];
  const edit = (): void => {
    edits++;
    // Each edit makes rows with new names, so the failure of one row does not delay the next.
    const flood = Array.from({ length: 50 }, (_, n) => policyOf('flood', `pod-${n}`, 99_999, `edit ${edits} ${n}`));
    const good = policyOf('flood', 'good', 100, 'flood good');
    const wanted = [router, ...flood, good, ...quiet];
    kiln.desired.replace(before, wanted);
    before = wanted;
    kiln.writer.flush();
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    await kiln.want([router]);
    before = [router];
    timer = setInterval(edit, 4);
    await until('the flood is refused again and again', () => kiln.reports.length > 20);
    const took: number[] = [];
    for (let n = 0; n < 10; n++) {
      const before = kiln.reports.length;
      quiet = [...quiet, policyOf('quiet', `pod-${n}`, 100, `quiet ${n}`)];
      const { id } = quiet.at(-1) as RowOutput;
      await until('the row of the other namespace is there', () => kiln.world.rows.best(id) !== undefined);
      took.push(kiln.reports.length - before);
    }
    // Two or three, however loaded the machine is.
    assert.ok(Math.max(...took) < 20, `written after ${Math.max(...took)} transactions`);
    clearInterval(timer);
    const { id } = policyOf('flood', 'good', 100, 'flood good');
    const sent = kiln.reports.length;
    await until('the good row of the namespace itself is there when the edits end', () => kiln.world.rows.best(id) !== undefined);
    const lasting = kiln.reports.length - sent;
    assert.ok(lasting < 200, `failing rows are sent slowly: ${lasting} transactions`);
  } finally {
    clearInterval(timer);
    kiln.desired.replace(before, []);
    await kiln.want([]);
    await kiln.close();
  }
});
