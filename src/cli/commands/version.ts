/**
 * `kiln version`: the versions of this program, the controller, the custom resources and the databases, and whether they are compatible.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { allKinds } from '../../api/kinds/crds.ts';
import { isKubeError } from '../../kube/errors.ts';
import { tableSpec } from '../../nb/tables.ts';
import type { MissingPart, Replica } from '../../ovsdb/index.ts';
import { firstRead, toOvsdbError } from '../../ovsdb/index.ts';
import { VERSION } from '../../runtime/version.ts';
import type { CommandIo, ConnectionFlags } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster, requestTimeoutMs } from '../connection/cluster-command.ts';
import { EXIT } from '../errors/command-failure.ts';
import type { OvnFlags } from '../connection/connect.ts';
import { wayIfAny } from '../cluster/northbound-way.ts';
import type { NorthboundWay } from '../connection/northbound-ways.ts';
import { addNorthboundFlags, sessionOf } from '../cluster/observe.ts';
import { print } from '../output/terminal.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import type { LeaseFlags } from '../cluster/leader.ts';
import { addLeaseFlag, leaderOf } from '../cluster/leader.ts';
import type { Leader } from '../cluster/leader.ts';

export interface VersionFlags extends ConnectionFlags, Partial<OvnFlags>, LeaseFlags {
  readonly output: 'table' | StructuredFormat;
  readonly client?: boolean;
}

const EXAMPLES = `
Examples:
  kiln version                                  all versions; exit code 1 if they are not compatible
  kiln version --client                         of this program alone; needs no cluster
  kiln version -o json --ovn-nb tcp:10.0.0.1:6641
`;

const EXIT_CODES = `
Exit codes: 0 compatible, 1 not compatible, 2 wrong usage, 3 cluster unreachable or forbidden.
The leader publishes its version on its Lease; ovn-northd writes the version of OVN into the database.
That of Open vSwitch is each node's own (ovs-vswitchd --version there): the Northbound database does not contain it.
`;

export function addVersion(program: Command): void {
  const command = program
    .command('version')
    .description(
      'print the versions of this program, the controller, the custom resources and the databases, and whether they are compatible',
    )
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--client', 'only the version of this program')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', ...STRUCTURED_FORMATS]).default('table'));
  addLeaseFlag(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: VersionFlags) => {
    if (flags.client === true) {
      print(
        flags.output === 'table'
          ? [`client      kiln ${VERSION}, Node.js ${process.version}`]
          : structuredText(flags.output, 'Version', { client: CLIENT }),
      );
      return;
    }
    process.exitCode = await onCluster('version', flags, (io) => runVersion(flags, io));
  });
}

const CLIENT = { version: VERSION, node: process.version };

interface Northbound {
  readonly schema: string | null;
  /** The version of OVN that ovn-northd wrote; null if no northd has run. */
  readonly ovn: string | null;
  /** Tables and columns that Kiln uses and the schema lacks. */
  readonly missing: readonly string[];
  readonly problem?: string;
}

/** @returns the exit code */
export async function runVersion(flags: VersionFlags, io: CommandIo): Promise<number> {
  const { gitVersion } = await io.client.version();
  const leader = await leaderOf(io, flags.leaseNamespace);
  const served = await servedKinds(io);
  const lacking = allKinds.map(({ plural }) => plural).filter((plural) => !served.includes(plural));
  const northbound = await databaseOf(flags, await wayIfAny(flags, io, 'reads'));
  const skewed = leader?.version !== undefined && release(leader.version) !== release(VERSION);
  const fits = lacking.length === 0 && northbound?.problem === undefined && !skewed;
  if (flags.output !== 'table')
    io.out(
      structuredText(flags.output, 'Version', {
        client: CLIENT,
        kubernetes: { version: gitVersion },
        controller: leader === undefined ? null : leaderJson(leader),
        crds: { group: 'kubeovn.io/v1', served: served.length, missing: lacking },
        ovnNorthbound: northbound ?? null,
        fits,
      }),
    );
  else io.out(versionLines(gitVersion, leader, skewed, served.length, lacking, northbound));
  return fits ? EXIT.fine : EXIT.findings;
}

/** Programs of the same minor version are compatible. */
function release(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

function leaderJson({ identity, renewed, live, version }: Leader): object {
  return { version: version ?? null, identity, renewed, live };
}

export async function servedKinds({ client }: Pick<CommandIo, 'client'>): Promise<string[]> {
  try {
    const list = (await client.getPath('/apis/kubeovn.io/v1')) as { readonly resources?: readonly { readonly name: string }[] };
    return (list.resources ?? []).map(({ name }) => name).filter((name) => !name.includes('/'));
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_NOT_SERVED')) return [];
    throw error;
  }
}

async function databaseOf(flags: VersionFlags, way: NorthboundWay | undefined): Promise<Northbound | undefined> {
  if (way === undefined) return undefined;
  const session = sessionOf(flags, way.ovnNb, { ...way.options, readOnly: true });
  let problem = '';
  try {
    await firstRead(session, requestTimeoutMs(flags)).catch((error: unknown) => {
      const { code, message } = toOvsdbError(error, 'OVSDB_PROTOCOL');
      problem = `${code}: ${message}`;
    });
    const schema = session.schema?.version ?? null;
    const missing = session.missing.filter(isWritten).map(({ table, column }) => (column === undefined ? table : `${table}.${column}`));
    return { schema, ovn: ovnVersion(session.replica), missing, ...(schema === null ? { problem } : {}) };
  } finally {
    await session.close();
  }
}

/** Columns that only the journal reads are no limitation of a server that lacks them. */
function isWritten({ table, column }: MissingPart): boolean {
  return column === undefined || column in tableSpec(table).columns;
}

/** `25.03.0-20.41.0-78.8`: OVN, then the Southbound schema and northd's internal version. */
export function ovnVersion(replica: Pick<Replica, 'table'>): string | null {
  for (const { options } of replica.table('NB_Global').values()) {
    const text: unknown = options instanceof Map ? options.get('northd_internal_version') : undefined;
    if (typeof text === 'string') return text.split('-')[0] ?? null;
  }
  return null;
}

function versionLines(
  kubernetes: string,
  leader: Leader | undefined,
  skewed: boolean,
  served: number,
  lacking: readonly string[],
  northbound: Northbound | undefined,
): readonly string[] {
  const crds =
    lacking.length === 0
      ? `✔ kubeovn.io/v1, all ${served} kinds`
      : `✖ not served: ${lacking.join(', ')}; kubectl apply -f deploy/crds.yaml`;
  const database =
    northbound === undefined
      ? '- not read (--ovn-nb)'
      : northbound.problem !== undefined
        ? `✖ ${northbound.problem}`
        : `✔ schema ${northbound.schema ?? ''}${northbound.ovn === null ? '' : `, OVN ${northbound.ovn}`}${northbound.missing.length === 0 ? '' : `; without ${northbound.missing.join(', ')}, which is left out`}`;
  return [
    `client      kiln ${VERSION}, Node.js ${process.version}`,
    `kubernetes  ${kubernetes}`,
    `controller  ${controllerText(leader, skewed)}`,
    `crds        ${crds}`,
    `northbound  ${database}`,
  ];
}

function controllerText(leader: Leader | undefined, skewed: boolean): string {
  if (leader === undefined) return '- no controller has led yet';
  const version = leader.version === undefined ? 'version not published' : `kiln ${leader.version}`;
  const misfit = skewed ? `; it is not compatible with kiln ${VERSION} here: use the commands of its version` : '';
  if (leader.identity === '') return `- no leader; the last one was ${version}${misfit}`;
  return `${leader.live && !skewed ? '✔' : '✖'} ${version}, ${leader.identity}${leader.live ? '' : ', with an expired Lease'}${misfit}`;
}
