/** Which of several row outputs for one identity is written. */
import type { RowOutput } from './output.ts';

/** Owners of rows that the networks of all tenants depend on: they have precedence over pods and others, whatever their age. */
const INFRASTRUCTURE: ReadonlySet<string> = new Set(['vpc', 'subnet', 'node']);

/**
 * Order of outputs for one identity, the same in every process: infrastructure first, then the older object, then by uid, rule and
 * contents.
 */
export function older(a: RowOutput, b: RowOutput): number {
  return (
    Number(a.leftover === true) - Number(b.leftover === true) ||
    Number(INFRASTRUCTURE.has(b.owner.kind)) - Number(INFRASTRUCTURE.has(a.owner.kind)) ||
    byText(a.owner.created, b.owner.created) ||
    byText(a.owner.uid, b.owner.uid) ||
    byText(a.rule, b.rule) ||
    byText(JSON.stringify(a.columns), JSON.stringify(b.columns)) ||
    byText(JSON.stringify(a.externalIds ?? {}), JSON.stringify(b.externalIds ?? {}))
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
