/** `kiln audit`: what is wrong in a cluster of Kube-OVN's or Kiln's, with nothing installed in it. The command only reads, and takes no Lease. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { Option } from 'commander';
import { leftoverGroups } from '../../explain/leftovers.ts';
import { statusOf } from '../../explain/status.ts';
import { checkInvariants } from '../../invariants/check-invariants.ts';
import { auditGroups, INVARIANT_TEXT, isOfKiln } from '../audit/audit-findings.ts';
import { auditHtml } from '../audit/audit-html.ts';
import type { AuditReport } from '../audit/audit-text.ts';
import { auditLines } from '../audit/audit-text.ts';
import { resourceOfKind } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags, northboundOf } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { openedFresh } from './diff.ts';

export interface AuditFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | 'html' | StructuredFormat;
  readonly report?: string;
}

const EXAMPLES = `
Examples:
  kiln audit --ovn-nb tcp:10.0.0.1:6641         what is found, by invariant and cause
  kiln audit -o wide                            all findings, each with the next command
  kiln audit --report audit.html                a report to send on, in one file
  kiln audit -o json | jq .groups               for programs
`;

const EXIT_CODES = `
Exit codes: 0 nothing found, 1 findings, 2 wrong usage, 3 cluster or database unreachable, or forbidden, or the report cannot be written, 4 timed out.
`;

export function addAudit(program: Command): void {
  const command = program
    .command('audit')
    .description('find what is wrong in a cluster of Kube-OVN or Kiln: leaked addresses, wrong counts, missing and orphan rows; reads only')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--report <file>', 'also write an HTML report of one file')
    .addOption(
      new Option('-o, --output <format>', 'output format; wide: all findings')
        .choices(['table', 'wide', 'html', ...STRUCTURED_FORMATS])
        .default('table'),
    );
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: AuditFlags) => {
    process.exitCode = await onCluster('audit', flags, (io) => runAudit(flags, io));
  });
}

/** @returns the exit code */
export async function runAudit(flags: AuditFlags, io: CommandIo): Promise<number> {
  const ovnNb = northboundOf(flags);
  if (ovnNb === undefined)
    throw new CommandFailure(
      EXIT.usage,
      'kiln audit needs the Northbound database',
      'neither --ovn-nb nor KILN_OVN_NB is set',
      'kiln audit --ovn-nb tcp:HOST:6641, after kubectl -n kube-system port-forward deployment/ovn-central 6641 where it is not reachable',
    );
  const { gitVersion } = await io.client.version();
  io.say('reading Kubernetes and OVN');
  await using fresh = await openedFresh('audit', flags, ovnNb, io);
  io.say('comparing');
  const { world, desired } = fresh;
  const plan = fresh.plan();
  const status = statusOf(world, true);
  const groups = auditGroups({
    world,
    plan,
    conflicts: fresh.conflicts().flatMap(({ id, verdict }) => (verdict.kind === 'conflict' ? [{ id, message: verdict.message }] : [])),
    violations: checkInvariants({ world, plan: { rows: [], objects: [] } }),
    status,
    leftovers: leftoverGroups(world, desired.rows),
  });
  const report: AuditReport = {
    cluster: clusterText(world, gitVersion),
    time: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    counts: status.counts,
    groups: groups.map((group) => ({ ...group, text: INVARIANT_TEXT[group.invariant] })),
    count: groups.reduce((sum, { findings }) => sum + findings.length, 0),
    notJudged: [
      ...status.notes.map(({ kind, key, message }) => `${kind} ${key}: ${message}`),
      ...status.neighbours.flatMap(({ name, rows }) => (name === 'kube-ovn' ? [] : [`${rows} rows of ${name}: another program's`])),
      ...(isOfKiln(world) ? [] : [OTHER_LAYOUT]),
    ],
  };
  if (flags.report !== undefined) await written(flags.report, auditHtml(report));
  if (flags.output === 'html') io.out(auditHtml(report));
  else if (flags.output === 'table' || flags.output === 'wide') io.out(auditLines(report, flags.output));
  else io.out(structuredText(flags.output, 'Audit', report));
  io.say(report.count === 0 ? 'nothing is found' : `${report.count} ${report.count === 1 ? 'finding' : 'findings'}`);
  return report.count === 0 ? EXIT.fine : EXIT.findings;
}

const OTHER_LAYOUT =
  'Kiln does not run this cluster: rows are compared with the layout that Kiln writes (Kube-OVN 1.17), so those of another release may differ without being wrong';

/** A cluster has no name; the uid of this namespace is used as its identity everywhere. */
function clusterText({ tables }: World, version: string): string {
  const namespaces = resourceOfKind('namespace');
  const uid = namespaces === undefined ? undefined : tables[namespaces]?.peek('kube-system')?.metadata.uid;
  return `cluster ${uid ?? 'without kube-system'}, Kubernetes ${version}`;
}

async function written(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.unreachable, 'the report was not written', why, 'kiln audit --report FILE');
  }
}
