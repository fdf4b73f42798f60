/** `kiln audit`: what is wrong in a cluster of Kube-OVN's or Kiln's, with nothing installed in it. The command only reads, and takes no Lease. */
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { auditHtml } from '../audit/audit-html.ts';
import { auditReport } from '../audit/audit-report.ts';
import { auditJson, auditLines } from '../audit/audit-text.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import { refuseOtherCluster } from '../cluster/belongs-together.ts';
import { refuseUnreadable } from '../cluster/readable-kinds.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import { addNorthboundFlags } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { writeWholeFile } from '../output/whole-file.ts';
import { commandText } from '../../text/command-text.ts';
import { openedFresh } from './diff.ts';

export interface AuditFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | 'html' | StructuredFormat;
  readonly report?: string;
}

const EXAMPLES = `
Examples:
  kiln audit                                    what is found, by invariant and cause; it finds OVN by itself
  kiln audit --ovn-nb tcp:10.0.0.1:6641         OVN at this address
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
    process.exitCode = await onCluster('audit', flags, (io) => runAudit(flags, io), { onlyReads: true });
  });
}

/** @returns the exit code */
export async function runAudit(flags: AuditFlags, io: CommandIo): Promise<number> {
  const { gitVersion } = await io.client.version();
  await refuseUnreadable(io);
  const way = await wayToNorthbound('audit', flags, io, 'reads');
  io.say(`reading Kubernetes, and OVN by ${way.text}`);
  await using fresh = await openedFresh('audit', flags, way.ovnNb, io, undefined, { ...way.options, readOnly: true });
  refuseOtherCluster(fresh.world, way.text);
  io.say('comparing');
  const report = auditReport(fresh, gitVersion, way.text);
  if (flags.output === 'html') io.out(auditHtml(report));
  else if (flags.output === 'table' || flags.output === 'wide') io.out(auditLines(report, flags.output));
  else io.out(structuredText(flags.output, 'Audit', auditJson(report)));
  // Last: what was found is printed also if the file cannot be written.
  if (flags.report !== undefined) await written(flags.report, auditHtml(report));
  io.say(report.count === 0 ? 'nothing is found' : `${report.count} ${report.count === 1 ? 'finding' : 'findings'}`);
  return report.count === 0 ? EXIT.fine : EXIT.findings;
}

async function written(file: string, text: string): Promise<void> {
  try {
    await writeWholeFile(file, text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(
      EXIT.unreachable,
      `the report was not written to ${file}`,
      why,
      commandText`df -h ${dirname(file)}, or kiln audit --report with a file elsewhere`,
    );
  }
}
