/**
 * `kiln status`: who leads, what is read, how much there is, and what is not as it should be, on one screen.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { ageText } from '../../explain/age.ts';
import type { ClusterStatus } from '../../explain/status.ts';
import { statusOf } from '../../explain/status.ts';
import type { Lease } from '../../kube/lease.ts';
import { LEASES } from '../../kube/resource.ts';
import { TERM_KEY } from '../../nb/ownership.ts';
import { rowId } from '../../nb/row-id.ts';
import type { CommandIo } from '../cluster-command.ts';
import { addConnectionFlags, onCluster } from '../cluster-command.ts';
import { EXIT } from '../command-failure.ts';
import type { LookFlags } from '../observe.ts';
import { addNorthboundFlags, observe } from '../observe.ts';

export interface StatusFlags extends LookFlags {
  readonly output: 'table' | 'json';
  readonly leaseNamespace: string;
}

const EXAMPLES = `Examples:
  kiln status                                   one screen; exit 1 when something is not as it should be
  kiln status -o json | jq .findings            for programs
`;

const EXIT_CODES = `
Exit codes: 0 all is well, 1 findings, or nobody leads, 2 usage, 3 cannot reach the cluster, the database or forbidden, 4 timed out.
`;

/** Findings of a screen; the others are counted. */
const SHOWN = 20;

export function addStatus(program: Command): void {
  const command = program
    .command('status')
    .description('who leads, how much there is, and what is blocked, in conflict, not ready or nearly full')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--lease-namespace <name>', "where the controller's Lease is", 'kube-system')
    .addOption(new Option('-o, --output <format>', 'how the result is printed').choices(['table', 'json']).default('table'));
  addNorthboundFlags(addConnectionFlags(command)).action(async (flags: StatusFlags) => {
    process.exitCode = await onCluster('status', flags, (io) => runStatus(flags, io));
  });
}

export interface Leader {
  readonly identity: string;
  /** RFC 3339. */
  readonly renewed: string;
  /** The Lease has not run out. */
  readonly live: boolean;
}

/** The holder of the controller's Lease; undefined where nobody holds it. */
export async function leaderOf({ client }: CommandIo, namespace: string, now: number): Promise<Leader | undefined> {
  const lease = await client.find<Lease>(LEASES, { name: CONTROLLER_LEASE, namespace });
  const identity = lease?.spec?.holderIdentity ?? '';
  const renewed = lease?.spec?.renewTime ?? '';
  if (identity === '') return undefined;
  return { identity, renewed, live: now - Date.parse(renewed) < 1_000 * (lease?.spec?.leaseDurationSeconds ?? 15) };
}

/** @returns the exit code */
export async function runStatus(flags: StatusFlags, io: CommandIo): Promise<number> {
  await using observation = await observe(flags, io);
  const now = Date.now();
  const leader = await leaderOf(io, flags.leaseNamespace, now);
  const { world, northboundRead, schemaVersion, northboundProblem } = observation;
  const status = statusOf(world, northboundRead);
  const externalIds = world.rows.column(rowId('NB_Global', ''), 'external_ids');
  const term = externalIds instanceof Map ? String(externalIds.get(TERM_KEY) ?? '') : '';
  const northbound = {
    endpoint: flags.ovnNb ?? null,
    read: northboundRead,
    schema: schemaVersion ?? null,
    ...(northboundRead || northboundProblem === undefined ? {} : { problem: northboundProblem }),
  };
  const whole = { leader: leader ?? null, term: term === '' ? null : term, northbound, ...status, rows: status.rows ?? null };
  if (flags.output === 'json') io.out(`${JSON.stringify({ apiVersion: 'kiln.io/v1', kind: 'Status', ...whole }, undefined, 2)}\n`);
  else io.out(statusText(status, leader, term, northbound, now));
  if (flags.ovnNb !== undefined && !northboundRead) return EXIT.unreachable;
  return leader?.live === true && status.findings.length === 0 ? EXIT.fine : EXIT.findings;
}

function statusText(
  { counts, rows, findings }: ClusterStatus,
  leader: Leader | undefined,
  term: string,
  northbound: { readonly endpoint: string | null; readonly read: boolean; readonly schema: string | null; readonly problem?: string },
  now: number,
): string {
  const led =
    leader === undefined
      ? '✖ nobody: no controller runs, or another control plane leads'
      : `${leader.live ? '✔' : '✖'} ${leader.identity}, renewed ${ageText(now - Date.parse(leader.renewed))} ago${term === '' ? '' : `, term ${term}`}`;
  const database = northbound.read
    ? `✔ ${northbound.endpoint ?? ''}, schema ${northbound.schema ?? 'unknown'}, ${rows ?? 0} rows of Kiln`
    : northbound.endpoint === null
      ? '- not looked at (--ovn-nb)'
      : `✖ ${northbound.problem ?? ''}`;
  const lines = [
    `leader      ${led}`,
    `northbound  ${database}`,
    `objects     ${Object.entries(counts)
      .map(([kind, count]) => `${kind} ${count}`)
      .join(' · ')}`,
    `findings    ${findings.length === 0 ? '✔ none' : `✖ ${findings.length}`}`,
    ...findings
      .slice(0, SHOWN)
      .map(({ what, message, since, next }) => `  ${what}  ${message} (${ageText(now - Date.parse(since))})\n    ${next}`),
    ...(findings.length > SHOWN ? [`  … and ${findings.length - SHOWN} more: kiln status -o json`] : []),
  ];
  return `${lines.join('\n')}\n`;
}
