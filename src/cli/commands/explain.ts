/** `kiln explain`: one object with its dependencies, dependents and Northbound rows; why it waits, since when, and the next command. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { UNIMPLEMENTED_KINDS } from '../../controller/reading/unimplemented-kinds.ts';
import { ageText } from '../../explain/age.ts';
import { explain } from '../../explain/explanation.ts';
import type { Explanation } from '../../explain/explanation.ts';
import { explanationJson } from '../../explain/explanation-json.ts';
import { resourceNamed, TYPED_NAMES } from '../../explain/kind-names.ts';
import { explainWorkload } from '../../explain/workload.ts';
import type { Paint } from '../../explain/tree-text.ts';
import { explanationLine, treeLines } from '../../explain/tree-text.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, BRIEFLY, onCluster } from '../connection/cluster-command.ts';
import { EXIT } from '../errors/command-failure.ts';
import { existing, existingOf, nameArgument, objectArgument, typeArgument, unknownKind } from '../arguments/object-argument.ts';
import { WORKLOAD_NAMES, workloadKindNamed, workloadTree } from '../deletion/workload-owner.ts';
import { addSettingsFlags, leaderProblem } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import type { Line } from '../output/terminal.ts';
import { wayIfAny } from '../cluster/northbound-way.ts';
import { addNorthboundFlags, observe } from '../cluster/observe.ts';

export interface ExplainFlags extends ObservationFlags {
  readonly namespace?: string;
  readonly output: 'table' | 'wide' | StructuredFormat;
  readonly all?: boolean;
}

/** Displayed children of one object without `--all`. */
const SHOWN = 10;

const EXAMPLES = `
Examples:
  kiln explain subnet red                       its dependents, and why it is not deleted yet
  kiln explain vpc/blue --all                   all objects, without a limit
  kiln explain deployment web -n shop           its pods, their addresses, and the pods that wait for their network
  kiln explain pod web-0 -n shop -o json        for programs
`;

const EXIT_CODES = `
Exit codes: 0 ready, 1 waits, not ready or does not exist, 2 wrong usage, 3 cluster unreachable or forbidden, 4 timed out.
`;

export function addExplain(program: Command): void {
  const command = program
    .command('explain')
    .description('print what an object depends on, its dependents, its Northbound rows, why it waits, and the next command')
    .argument('<kind>', 'kind or short name, or KIND/NAME, or KIND/NAMESPACE/NAME')
    .argument('[name]', 'name of the object')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('-n, --namespace <name>', "namespace of the object (default: the context's)")
    .addOption(
      new Option('-o, --output <format>', 'output format; wide: the table with all objects')
        .choices(['table', 'wide', ...STRUCTURED_FORMATS])
        .default('table'),
    )
    .option('--all', `all objects rather than ${SHOWN} of each kind`);
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(
    async (kind: string, name: string | undefined, flags: ExplainFlags) => {
      process.exitCode = await onCluster('explain', flags, (io) => runExplain(kind, name, flags, io), BRIEFLY);
    },
  );
}

/** @returns the exit code */
export async function runExplain(kind: string, name: string | undefined, flags: ExplainFlags, io: CommandIo): Promise<number> {
  const found = await explanationOf(kind, name, flags, io);
  const unattended = found.waiting === undefined ? undefined : await leaderProblem(io, flags.leaseNamespace);
  const explanation = unattended === undefined ? found : { ...found, unattended, next: ['kiln status', ...found.next] };
  if (flags.output === 'json' || flags.output === 'yaml') io.out(structuredText(flags.output, 'Explanation', explanationJson(explanation)));
  else io.out(explanationLines(explanation, Date.now(), io.paint));
  return explanation.waiting === undefined ? EXIT.fine : EXIT.findings;
}

async function explanationOf(kind: string, name: string | undefined, flags: ExplainFlags, io: CommandIo): Promise<Explanation> {
  const type = typeArgument(kind);
  const namespace = flags.namespace ?? io.namespace;
  const limits = { children: flags.output === 'table' && flags.all !== true ? SHOWN : Number.POSITIVE_INFINITY };
  const workload = workloadKindNamed(type);
  if (workload !== undefined) {
    const named = nameArgument('explain', kind, name, workload, namespace);
    const object = await existingOf('explain', workload, named.namespace, named.name, io.client);
    const tree = await workloadTree(io.client, workload, object);
    await using observation = await observe(flags, io, await wayIfAny(flags, io, 'reads'));
    return explainWorkload(observation.world, tree, limits);
  }
  if (resourceNamed(type) === undefined) throw unknownKind('explain', type, [...new Set([...TYPED_NAMES, ...WORKLOAD_NAMES])].toSorted());
  const named = objectArgument('explain', kind, name, namespace);
  const object = await existing('explain', named, io.client);
  await using observation = await observe(flags, io, await wayIfAny(flags, io, 'reads'));
  return explain(observation.world, named.resource, object, {
    limits,
    rows: observation.northboundRead,
    unimplemented: (resource) => UNIMPLEMENTED_KINDS.find((one) => one.resource === resource)?.feature(object),
  });
}

function explanationLines(explanation: Explanation, now: number, paint: Paint): readonly Line[] {
  const { subject, implemented, waiting, notes, unattended, next, counts } = explanation;
  // An object in effect waits for nothing, though a part of it may be ineffective.
  const label = implemented && subject.state.ready !== 'False' ? 'note:  ' : 'waits: ';
  const tree = treeLines(explanationLine(explanation, now), paint);
  const waits =
    waiting === undefined
      ? []
      : [
          '',
          `${label}${waiting.message === '' ? waiting.reason : waiting.message}`,
          `since: ${waiting.since} (${ageText(now - Date.parse(waiting.since))})`,
          ...(unattended === undefined ? [] : [`but:   ${unattended}`]),
          ...next.map((command, index) => `${index === 0 ? 'next:  ' : '       '}${command}`),
        ];
  const noted = notes.flatMap(({ what, message, since }) => [
    '',
    `note:  ${what}: ${message}`,
    `since: ${since} (${ageText(now - Date.parse(since))})`,
  ]);
  const counted = counts.length === 0 ? [] : ['', `addresses: ${counts.join('; ')}`];
  return [...tree, ...counted, ...waits, ...noted];
}
