/** The table of known failure cases: the list of `test/scenarios/failure-cases.ts`, its scenarios, and their latest results. */
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { traitsOf } from '../../src/world/resources.ts';
import { SCENARIOS } from '../../test/scenarios/all.ts';
import type { FailureCase } from '../../test/scenarios/failure-cases.ts';
import { casesOf, FAILURE_CASES } from '../../test/scenarios/failure-cases.ts';
import type { Scenario } from '../../test/scenarios/scenario.ts';
import { namedTests, type NamedTest } from './named-tests.ts';
import { PACKET_CASES, type PacketCase } from './packet-cases.ts';

export const SERVERS = ['lab', 'real'] as const;
export type Server = (typeof SERVERS)[number];
export type Outcome = 'passes' | 'FAILS' | 'not run';

/** Results of the scenarios by name, and their time. */
export interface Results {
  readonly date: string;
  readonly outcomes: ReadonlyMap<string, Readonly<Record<Server, Outcome>>>;
}

const NONE: Readonly<Record<Server, Outcome>> = { lab: 'not run', real: 'not run' };

export function failureCasesPage(results: Results): string {
  const families = [...new Set(FAILURE_CASES.map(({ family }) => family))];
  const shown = FAILURE_CASES.filter((one) => scenariosOf(one).length > 0);
  const partly = shown.filter((one) => waitsFor(one) !== '');
  return `${[
    '# Failure cases',
    `Failures known from the field, in Kube-OVN and in comparable projects, each with the scenarios of \`test/scenarios\` that show that it
cannot happen here: the end state is asserted with \`kubectl\` and \`ovn-nbctl\`, after them a fresh controller plans nothing and the
[invariants](../architecture.md#invariants) hold. One case after another: \`SCENARIO=C01 node --test test/e2e/lab.test.ts\`.`,
    `Generated from the list, the scenarios and a run of them: \`npm run failure-cases\`. A test keeps page, list and scenarios together.`,
    `Run on ${results.date}, on the laboratory's API server and on a real kube-apiserver. Of ${FAILURE_CASES.length} cases ${shown.length} are shown, ${partly.length} of
them in part, and ${FAILURE_CASES.length - shown.length} wait for kinds or features that this version does not have.`,
    ...families.flatMap((name) => [
      `## ${name}`,
      table(
        ['case', 'what happens', 'laboratory', 'real', 'shown by, or waiting for'],
        FAILURE_CASES.filter(({ family }) => family === name).flatMap((one) => rowsOf(one, results)),
      ),
    ]),
    ...packetCases(namedTests()),
  ].join('\n\n')}\n`;
}

/** The cases of nodes and traffic, with the tests that have their numbers. */
function packetCases(tests: readonly NamedTest[]): readonly string[] {
  const untested = PACKET_CASES.filter(({ number }) => !tests.some(({ cases }) => cases.includes(number)));
  return [
    '# Nodes and traffic',
    `Cases of nodes (N) and of traffic (T). Each has a test whose name begins with its number, at the level that shows it soonest: a rule, the
simulated node, \`ovn-trace\`, real packets, a real cluster; or a sentence that says why not. One case after another:
\`node --test --test-name-pattern=N05 FILE\`. Of ${PACKET_CASES.length} cases ${PACKET_CASES.length - untested.length} have a test.`,
    ...[...new Set(PACKET_CASES.map(({ family }) => family))].flatMap((name) => [
      `## ${name}`,
      table(
        ['case', 'what happens', 'shown by', 'in'],
        PACKET_CASES.filter(({ family }) => family === name).flatMap((one) => packetRows(one, tests)),
      ),
    ]),
  ];
}

function packetRows({ number, title, untested, waitsFor: kind }: PacketCase, tests: readonly NamedTest[]): readonly (readonly string[])[] {
  const rows = tests.filter(({ cases }) => cases.includes(number)).map(({ name, file }) => [name.replaceAll('|', '\\|'), `\`${file}\``]);
  const rest = [...(untested === undefined ? [] : [[untested, '']]), ...(kind === undefined ? [] : [[`waits for ${kind}`, '']])];
  return [...rows, ...rest].map((cells, at) => [at === 0 ? number : '', at === 0 ? title : '', ...cells]);
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n');
}

function rowsOf(one: FailureCase, { outcomes }: Results): readonly (readonly string[])[] {
  const scenarios = scenariosOf(one);
  const rows = scenarios.map(({ name, only }) => {
    const outcome = outcomes.get(name) ?? NONE;
    const cell = (server: Server): string => (only !== undefined && only !== server ? '—' : outcome[server]);
    return [cell('lab'), cell('real'), name];
  });
  const waits = waitsFor(one);
  const rest =
    waits === '' ? [] : [['waits', 'waits', `${one.shown === undefined ? '' : `shown: ${one.shown}. The rest `}waits for ${waits}`]];
  return [...rows, ...rest].map((cells, at) => [at === 0 ? one.number : '', at === 0 ? one.title : '', ...cells]);
}

function scenariosOf({ number }: FailureCase): readonly Scenario[] {
  return SCENARIOS.filter(({ name }) => casesOf(name).includes(number));
}

/** The kinds and features that the case needs and that are not implemented yet; empty for none. */
function waitsFor({ waitsFor: kinds = [], waitsForFeature }: FailureCase): string {
  const unimplemented = new Set(UNIMPLEMENTED_KINDS.map(({ resource }) => traitsOf(resource).kind));
  return [...kinds.filter((kind) => unimplemented.has(kind)), ...(waitsForFeature === undefined ? [] : [waitsForFeature])].join(', ');
}

/** What a page records about its run. */
export function resultsIn(page: string): Results {
  const outcomes = new Map<string, Readonly<Record<Server, Outcome>>>();
  const outcome = (cell: string): Outcome => (cell === 'passes' || cell === 'FAILS' ? cell : 'not run');
  for (const line of page.split('\n')) {
    const [lab = '', real = '', name = ''] = line.slice(2, -2).split(' | ').slice(2);
    if (line.startsWith('| ') && lab !== 'waits' && name !== '') outcomes.set(name, { lab: outcome(lab), real: outcome(real) });
  }
  return { date: /^Run on (\S+),/m.exec(page)?.[1] ?? 'no day', outcomes };
}
