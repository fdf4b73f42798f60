/** Views: what stands in a column for a pod that a selector selects, such as its ports, or its addresses of one family. */
import type { RowId } from '../../nb/row-id.ts';
import type { TableDefinition } from '../../engine/derived-table.ts';
import type { Domain } from '../../engine/domain.ts';
import type { World } from '../world.ts';
import { defineTable } from '../world.ts';

/** An element of a set column, a reference, or a key of a map column, as in a member that a rule emits. */
export type ViewMember = string | { readonly ref: RowId } | { readonly key: string; readonly value: string };

/** What one pod contributes. */
export interface ViewEntry {
  readonly labelSet: string;
  readonly members: readonly ViewMember[];
}

/** A derived table by pod. Index `labelSet`; `member`: the identity of a member, as `memberName` gives it. */
export type View = TableDefinition<World, ViewEntry>;

export function defineView(
  name: string,
  over: (world: World) => Domain,
  entry: (world: World, pod: string) => ViewEntry | undefined,
): View {
  return defineTable(name, over, entry, {
    labelSet: ({ labelSet }) => [labelSet],
    member: ({ members }) => members.map(memberName),
  });
}

/** Identity of a member within a column: the reference, the map key or the element. */
export function memberName(member: ViewMember): string {
  if (typeof member === 'string') return member;
  return 'ref' in member ? member.ref : member.key;
}
