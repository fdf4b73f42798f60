/**
 * Runs every scenario that has the number of a known failure case, on both API servers, and writes `docs/evidence/failure-cases.md`.
 *
 *   npm run failure-cases                    all of them
 *   npm run failure-cases -- lab 'C01|C02'   some, on one server; the others keep their results on the page
 *   npm run failure-cases -- page            runs nothing: for a changed list, or a renamed scenario
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { failureCasesPage, resultsIn, SERVERS, type Outcome, type Server } from './failure-cases/page.ts';
import { runCases } from './failure-cases/run-cases.ts';

const PAGE = new URL('../docs/evidence/failure-cases.md', import.meta.url);
const args = process.argv.slice(2);
const servers = args[0] === 'page' ? [] : SERVERS.filter((server) => args[0] === undefined || args[0] === server);
if (args[0] !== undefined && args[0] !== 'page' && servers.length === 0) {
  console.error(`"${args[0]}" is neither "page" nor a server (${SERVERS.join(', ')})`);
  process.exit(2);
}

let page = '';
try {
  page = readFileSync(PAGE, 'utf8');
} catch (error) {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
const before = resultsIn(page);
const outcomes = new Map(before.outcomes);
const date = servers.length === 0 ? before.date : new Date().toISOString().slice(0, 10);
const write = (): void => writeFileSync(PAGE, failureCasesPage({ date, outcomes }));

for (const server of servers) {
  for await (const [name, outcome] of runCases(server, args[1])) {
    const old: Readonly<Record<Server, Outcome>> = outcomes.get(name) ?? { lab: 'not run', real: 'not run' };
    outcomes.set(name, { ...old, [server]: outcome });
    if (outcome === 'FAILS') process.exitCode = 1;
    // An interrupted run keeps its results.
    write();
    console.log(`${outcome === 'passes' ? '✔' : '✖'} ${server}: ${name}`);
  }
}
write();
