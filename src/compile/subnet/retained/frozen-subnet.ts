/**
 * The rows of a Subnet whose spec cannot be carried out now: they stay, as they were last written where that can be told, else as they are.
 */
import { ownerText } from '../../../nb/ownership.ts';
import { tableOf } from '../../../nb/row-id.ts';
import { keysOf } from '../../../world/domain.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../compiler.ts';
import { frozenRows, rowWithOwnershipKeys } from '../../kept-row.ts';
import type { RowOutput } from '../../output.ts';
import { frozenBalancers, linked } from './kept-network.ts';
import type { LastWritten } from './subnet-last-written.ts';
import { lastWritten } from './subnet-last-written.ts';
import { subnetRows } from '../judging/subnet-state.ts';
import { claimantOfSubnet, subnetView } from '../judging/subnet-view.ts';

export const frozenSubnet: Rule = {
  name: 'frozen-subnet',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    if (view === undefined || world.ask(subnetRows, name) !== 'frozen') return [];
    // What an older Subnet of the name left, and this one did not take over, is none of its network.
    const marked = frozenRows(world, ownerText(claimantOfSubnet(view))).filter(({ owner }) => owner.uid === view.uid);
    const written = lastWritten(world, name);
    const rows = [...marked, ...withoutOwnershipKeys(world, written)];
    return [...linked(world, withLastWritten(written, rows), name), ...frozenBalancers(world, name)];
  },
};

/** Those of its rows that say no more whose they are. */
function withoutOwnershipKeys(world: World, written: LastWritten): readonly RowOutput[] {
  return [...written.values()].flatMap((asWritten) => {
    const row = asWritten.find((one) => hasLostOwnershipKeys(world.rows, one));
    return row === undefined ? [] : [rowWithOwnershipKeys(world, row)];
  });
}

/** What each may have been; one that is found by another name now is one of those that are away. */
function withLastWritten(written: LastWritten, rows: readonly RowOutput[]): readonly RowOutput[] {
  const there = new Set(rows.map(({ id }) => id));
  const away = [...written].flatMap(([id, asWritten]) => (there.has(id) ? [] : asWritten));
  return rows.map((row) => {
    const elsewhere = away.filter(({ id }) => tableOf(id) === tableOf(row.id));
    return { ...row, sealed: [...(written.get(row.id) ?? []), ...elsewhere] };
  });
}
