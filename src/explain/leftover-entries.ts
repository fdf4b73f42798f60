/** Entries of rows that nothing asks for, such as vips of no Service, as entries of the plan of the collection. Pure. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { isEntryOfOption, unexplainedEntries, vipOf } from '../diff/unexplained-entries.ts';
import type { UnexplainedEntry } from '../diff/unexplained-entries.ts';
import { identityOf, isOwnUuid } from '../nb/row-id.ts';
import { holderOfVip } from '../world/vip-holder.ts';
import type { World } from '../world/world.ts';
import type { Collected, Fate, PlanSources } from './collection-plan.ts';

export function leftoverEntries(
  world: World,
  desired: Pick<DesiredRows, 'row' | 'member'>,
  { policy, hold }: Pick<PlanSources, 'policy' | 'hold'>,
): readonly Collected[] {
  return [...unexplainedEntries(world, desired)]
    .filter(({ row, column, key }) => !isEntryOfOption(world, row, column, key))
    .map((entry): Collected => {
      const { row, column, key } = entry;
      const [owner, uid, rule] =
        row.ownership.kind === 'ours' ? [row.ownership.owner, row.ownership.uid, row.ownership.rule] : ['', '', ''];
      return {
        ...fateOf(entry),
        ...{ what: 'entry', table: row.table, name: `${identityOf(row.id)} ${key}`, uuid: row.uuid, owner, uid, rule },
        entry: { column, key },
        ...{ since: null, madeBy: isOwnUuid(row.uuid) ? 'Kiln' : 'Kube-OVN', within: {} },
      };
    })
    .toSorted((a, b) => (`${a.table} ${a.name}` < `${b.table} ${b.name}` ? -1 : 1));

  function fateOf({ row, column, key, value }: UnexplainedEntry): { readonly fate: Fate; readonly why: string } {
    const vip = vipOf(row, column, key) ?? `${column} ${key}`;
    const holder = holderOfVip(world, vip);
    if (holder !== undefined) return { fate: 'collect', why: `service/${holder.service} exists and no longer asks for it` };
    const reason = `no Service has ${vip}${value === '' ? '' : `, which goes to ${value}`}`;
    const stays = policy.entryStays(row);
    if (stays !== undefined) return { fate: stays.why, why: `${reason}; ${stays.text}` };
    return hold === undefined ? { fate: 'collect', why: reason } : { fate: 'held', why: `${reason}; it waits for kiln gc approve` };
  }
}
