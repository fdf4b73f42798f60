/** Histories in files: one step a line, so that a person can read, cut and compare them. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { History, Step } from './step.ts';

export function historyText({ version, seed, controllers, steps }: History): string {
  return [JSON.stringify({ version, seed, controllers }), ...steps.map((step) => JSON.stringify(step)), ''].join('\n');
}

export function writeHistory(file: string, history: History): void {
  writeFileSync(file, historyText(history));
}

/** @throws Error naming the file and the line that cannot be read */
export function readHistory(file: string): History {
  const lines = readFileSync(file, 'utf8').split('\n');
  const parsed = lines.flatMap((line, at): unknown[] => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      throw new Error(`${file}:${at + 1}: this line is not JSON`);
    }
  });
  const [head, ...steps] = parsed as [Partial<History> | undefined, ...Step[]];
  if (head?.version !== 1 || typeof head.seed !== 'number' || typeof head.controllers !== 'number')
    throw new Error(`${file}:1: a history begins with {"version":1,"seed":…,"controllers":…}`);
  return { version: 1, seed: head.seed, controllers: head.controllers, steps };
}
