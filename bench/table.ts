import type { BenchRow } from './row.ts';

/** A benchmark's rows as text: value, unit, name, target. */
export function table(name: string, rows: readonly BenchRow[]): string {
  const lines = rows.map(({ name: what, value, unit, aim }) => {
    const digits = { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 1 };
    return `  ${value.toLocaleString('en', digits).padStart(12)} ${unit.padEnd(13)} ${what}${aim === undefined ? '' : ` (aim: ${aim})`}\n`;
  });
  return `\n${name}\n${lines.join('')}`;
}
