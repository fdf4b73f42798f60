/** Histories in files: one step a line, so that a person can read, cut and compare them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { isTenancy, TENANCIES } from '../../../src/world/settings.ts';
import type { History, Step } from './step.ts';

export function historyText({ steps, ...head }: History): string {
  return [JSON.stringify(head), ...steps.map((step) => JSON.stringify(step)), ''].join('\n');
}

export function writeHistory(file: string, history: History): void {
  writeFileSync(file, historyText(history));
}

/** The file is no history: the caller reports it as a wrong argument, not as a life that failed. */
export class HistoryFileError extends Error {
  override name = 'HistoryFileError';
  readonly code = 'HISTORY_FILE';
}

const KINDS: ReadonlySet<unknown> = new Set<Step['kind']>(['operation', 'fault', 'wait', 'converge']);

/** @throws HistoryFileError naming the file and the line that cannot be read */
export function readHistory(file: string): History {
  const lines = readFileSync(file, 'utf8').split('\n');
  const parsed = lines.flatMap((line, at): Line[] => {
    if (line.trim() === '') return [];
    try {
      return [{ at: at + 1, value: JSON.parse(line) as unknown }];
    } catch {
      throw new HistoryFileError(`${file}:${at + 1}: this line is not JSON`);
    }
  });
  const [first, ...rest] = parsed;
  const head = first?.value as Partial<History> | null | undefined;
  if (head?.version !== 1 || typeof head.seed !== 'number' || typeof head.controllers !== 'number')
    throw new HistoryFileError(`${file}:1: a history begins with {"version":1,"seed":…,"controllers":…}`);
  const steps = rest.map((line) => stepOf(file, line));
  if (head.tenancy !== undefined && !isTenancy(head.tenancy))
    throw new HistoryFileError(`${file}:1: "tenancy" is none of ${TENANCIES.join(', ')}`);
  return {
    version: 1,
    seed: head.seed,
    controllers: head.controllers,
    ...(head.tenancy !== undefined && { tenancy: head.tenancy }),
    ...(head.neighbours === true && { neighbours: true }),
    steps,
  };
}

interface Line {
  readonly at: number;
  readonly value: unknown;
}

function stepOf(file: string, { at, value }: Line): Step {
  const step = value as Step | null;
  if (!KINDS.has(step?.kind)) throw new HistoryFileError(`${file}:${at}: a step has a "kind": ${[...KINDS].join(', ')}`);
  return step as Step;
}
