/** Which of several outputs for one identity is written: of rows, and of keys of a shared map column. */
import type { KeyOutput, RowOutput } from './output.ts';

/** Owners of rows that the networks of all tenants depend on: they have precedence over pods and others, whatever their age. */
const INFRASTRUCTURE: ReadonlySet<string> = new Set(['vpc', 'subnet', 'node']);

/**
 * Order of outputs for one identity, the same in every process: infrastructure first, then the older object, then by uid, rule and
 * contents.
 */
export function older(a: RowOutput, b: RowOutput): number {
  return (
    Number(a.leftover === true) - Number(b.leftover === true) ||
    byOwner(a, b) ||
    byText(JSON.stringify(a.columns), JSON.stringify(b.columns)) ||
    byText(JSON.stringify(a.externalIds ?? {}), JSON.stringify(b.externalIds ?? {}))
  );
}

/** The same order for outputs of one key. */
export function olderKey(a: KeyOutput, b: KeyOutput): number {
  return byOwner(a, b) || byText(a.member.value, b.member.value);
}

type Owned = Pick<RowOutput, 'owner' | 'rule'>;

function byOwner(a: Owned, b: Owned): number {
  return (
    Number(INFRASTRUCTURE.has(b.owner.kind)) - Number(INFRASTRUCTURE.has(a.owner.kind)) ||
    byText(a.owner.created, b.owner.created) ||
    byText(a.owner.uid, b.owner.uid) ||
    byText(a.rule, b.rule)
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
