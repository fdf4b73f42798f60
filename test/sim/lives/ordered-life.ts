/** Draws one ordered life, compares it with the same life without the known fault, and shortens it if it fails. */
import type { KnownFault } from '../known-faults/known-faults.ts';
import { KNOWN_FAULTS } from '../known-faults/known-faults.ts';
import type { LifeOptions } from './life.ts';
import { draw } from './life.ts';
import type { LifeOrder, LifeReport } from './lives.ts';
import { shrink } from './shrink.ts';

export async function drawnLife(order: LifeOrder, trace?: (line: string) => void): Promise<LifeReport> {
  const { seed, operations, tenancy, neighbours, fault, shrink: most = 0, shrinkUntil: until } = order;
  const known = knownFault(fault);
  const draws: LifeOptions = { ...(tenancy !== undefined && { tenancy }), ...(neighbours === true && { neighbours }) };
  const options: LifeOptions = { ...(known === undefined ? {} : { rules: known.rules }), ...draws };
  const takeOut = known?.beneath?.();
  const life = await draw(seed, operations, trace === undefined ? options : { ...options, trace }).finally(() => takeOut?.());
  const drawn = { order, operations: life.operations, hash: life.hash, steps: life.history.steps.length };
  let findings = life.findings;
  // A finding that exists without the fault too is not due to it.
  if (fault !== undefined && findings.length > 0) {
    const without = new Set((await draw(seed, operations, draws)).findings.map(({ kind }) => kind));
    findings = findings.filter(({ kind }) => !without.has(kind));
  }
  if (findings.length === 0) return { ...drawn, messages: [], checks: [], tried: 0 };
  const limits = until === undefined ? { most } : { most, until };
  const short =
    most === 0 ? { history: life.history, findings, tried: 0, cut: false } : await shrink(life.history, findings, options, limits);
  const { history, tried, cut } = short;
  const checks = [...new Set(findings.map(({ check, kind }) => check ?? kind))];
  return { ...drawn, messages: short.findings.map(({ message }) => message), checks, history, tried, ...(cut && { cut }) };
}

function knownFault(fault: string | undefined): KnownFault | undefined {
  const known = KNOWN_FAULTS.find(({ name }) => name === fault);
  if (fault !== undefined && known === undefined) throw new RangeError(`there is no known fault "${fault}"`);
  return known;
}
