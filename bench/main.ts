/**
 * Runs benchmarks: `node bench/main.ts [name …] [--json]`.
 */
import { bind } from './bind.ts';
import { run as ipam } from './ipam.ts';
import type { BenchRow } from './row.ts';

const BENCHES: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  bind: () => bind(),
  ipam,
};

const asked = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`bench: no benchmark "${unknown[0] ?? ''}"; there are: ${Object.keys(BENCHES).join(', ')}\n`);
  process.exit(2);
}
const results: Record<string, readonly BenchRow[]> = {};
for (const name of asked.length > 0 ? asked : Object.keys(BENCHES)) {
  process.stderr.write(`${name} …\n`);
  results[name] = (await BENCHES[name]?.()) ?? [];
}
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
else {
  for (const [name, rows] of Object.entries(results)) {
    process.stdout.write(`\n${name}\n`);
    for (const row of rows)
      process.stdout.write(
        `  ${row.value.toLocaleString('en', { maximumFractionDigits: 1 }).padStart(12)} ${row.unit.padEnd(7)} ${row.name}\n`,
      );
  }
}
