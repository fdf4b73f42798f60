/** The rows of a frozen Subnet: they stay as they were last written, if their seals show that, else as they are. */
import { ownerText } from '../../../nb/ownership.ts';
import { tableOf } from '../../../nb/row-id.ts';
import { keysOf } from '../../../world/domain.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../compiler.ts';
import { retainedRows, rowWithOwnershipKeys } from '../../retained-row.ts';
import type { RowOutput } from '../../output.ts';
import { retainedBalancers, linked } from './orphaned-network.ts';
import type { LastWritten } from './subnet-last-written.ts';
import { lastWritten } from './subnet-last-written.ts';
import { subnetRows } from '../validity/subnet-state.ts';
import { subnetOwner, subnetView } from '../validity/subnet-view.ts';

export const frozenSubnet: Rule = {
  name: 'frozen-subnet',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    if (view === undefined || world.ask(subnetRows, name) !== 'frozen') return [];
    // Rows of an older Subnet of the name, which this one did not take over, do not belong to its network.
    const owned = retainedRows(world, ownerText(subnetOwner(view))).filter(({ owner }) => owner.uid === view.uid);
    const written = lastWritten(world, name);
    const rows = [...owned, ...withoutOwnershipKeys(world, written)];
    return [...linked(world, withLastWritten(written, rows), name), ...retainedBalancers(world, name)];
  },
};

/** Its rows that lost their ownership keys, with these keys again. */
function withoutOwnershipKeys(world: World, written: LastWritten): readonly RowOutput[] {
  return [...written.values()].flatMap((asWritten) => {
    const row = asWritten.find((one) => hasLostOwnershipKeys(world.rows, one));
    return row === undefined ? [] : [rowWithOwnershipKeys(world, row)];
  });
}

/**
 * Adds the candidates for the last written contents. A row that was renamed by hand is one of the missing ones: it gets their candidates.
 */
function withLastWritten(written: LastWritten, rows: readonly RowOutput[]): readonly RowOutput[] {
  const there = new Set(rows.map(({ id }) => id));
  const away = [...written].flatMap(([id, asWritten]) => (there.has(id) ? [] : asWritten));
  return rows.map((row) => {
    const elsewhere = away.filter(({ id }) => tableOf(id) === tableOf(row.id));
    return { ...row, sealed: [...(written.get(row.id) ?? []), ...elsewhere] };
  });
}
