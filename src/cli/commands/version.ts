/**
 * `kiln version`: this program, the controller, the custom resources and the databases, and whether they fit.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { allKinds } from '../../api/crds.ts';
import { isKubeError } from '../../kube/errors.ts';
import { VERSION } from '../../runtime/version.ts';
import type { CommandIo } from '../cluster-command.ts';
import { addConnectionFlags, onCluster, requestTimeoutMs } from '../cluster-command.ts';
import { EXIT } from '../command-failure.ts';
import type { LookFlags } from '../observe.ts';
import { addNorthboundFlags, sessionOf } from '../observe.ts';
import type { Leader } from './status.ts';
import { leaderOf } from './status.ts';

export interface VersionFlags extends LookFlags {
  readonly output: 'table' | 'json';
  readonly client?: boolean;
  readonly leaseNamespace: string;
}

const EXAMPLES = `Examples:
  kiln version                                  all versions, and whether they fit; exit 1 when they do not
  kiln version --client                         of this program alone; needs no cluster
  kiln version -o json --ovn-nb tcp:10.0.0.1:6641
`;

const EXIT_CODES = `
Exit codes: 0 they fit, 1 they do not, 2 usage, 3 cannot reach the cluster or forbidden.
`;

export function addVersion(program: Command): void {
  const command = program
    .command('version')
    .description('versions of this program, the controller, the custom resources and the databases, and whether they fit')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--client', 'only of this program')
    .option('--lease-namespace <name>', "where the controller's Lease is", 'kube-system')
    .addOption(new Option('-o, --output <format>', 'how the result is printed').choices(['table', 'json']).default('table'));
  addNorthboundFlags(addConnectionFlags(command)).action(async (flags: VersionFlags) => {
    if (flags.client === true) {
      process.stdout.write(
        flags.output === 'json' ? jsonText({ client: CLIENT }) : `client      kiln ${VERSION}, Node.js ${process.version}\n`,
      );
      return;
    }
    process.exitCode = await onCluster('version', flags, (io) => runVersion(flags, io));
  });
}

const CLIENT = { version: VERSION, node: process.version };

interface Northbound {
  readonly schema: string | null;
  /** Tables and columns that Kiln would use and the schema lacks. */
  readonly missing: readonly string[];
  readonly problem?: string;
}

/** @returns the exit code */
export async function runVersion(flags: VersionFlags, io: CommandIo): Promise<number> {
  const { gitVersion } = await io.client.version();
  const leader = await leaderOf(io, flags.leaseNamespace, Date.now());
  const served = await servedKinds(io);
  const lacking = allKinds.map(({ plural }) => plural).filter((plural) => !served.includes(plural));
  const northbound = await northboundOf(flags);
  const fits = lacking.length === 0 && northbound?.problem === undefined;
  if (flags.output === 'json')
    io.out(
      jsonText({
        client: CLIENT,
        kubernetes: { version: gitVersion },
        controller: leader ?? null,
        crds: { group: 'kubeovn.io/v1', served: served.length, missing: lacking },
        ovnNorthbound: northbound ?? null,
        fits,
      }),
    );
  else io.out(versionText(gitVersion, leader, served.length, lacking, northbound));
  return fits ? EXIT.fine : EXIT.findings;
}

async function servedKinds({ client }: CommandIo): Promise<string[]> {
  try {
    const list = (await client.getPath('/apis/kubeovn.io/v1')) as { readonly resources?: readonly { readonly name: string }[] };
    return (list.resources ?? []).map(({ name }) => name).filter((name) => !name.includes('/'));
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND') || isKubeError(error, 'KUBE_NOT_SERVED')) return [];
    throw error;
  }
}

async function northboundOf(flags: VersionFlags): Promise<Northbound | undefined> {
  if (flags.ovnNb === undefined) return undefined;
  const session = sessionOf(flags, flags.ovnNb);
  let problem = `it sent no schema in ${requestTimeoutMs(flags) / 1_000} s`;
  try {
    await new Promise<void>((done) => {
      const timer = setTimeout(done, requestTimeoutMs(flags));
      const end = (): void => {
        clearTimeout(timer);
        done();
      };
      session.onState((state) => {
        if (state === 'synced') end();
      });
      session.onError((error) => {
        problem = `${error.code}: ${error.message}`;
        end();
      });
      session.start();
    });
    const schema = session.schema?.version ?? null;
    const missing = session.missing.map(({ table, column }) => (column === undefined ? table : `${table}.${column}`));
    return { schema, missing, ...(schema === null ? { problem } : {}) };
  } finally {
    await session.close();
  }
}

function versionText(
  kubernetes: string,
  leader: Leader | undefined,
  served: number,
  lacking: readonly string[],
  northbound: Northbound | undefined,
): string {
  const crds =
    lacking.length === 0
      ? `✔ kubeovn.io/v1, all ${served} kinds`
      : `✖ not served: ${lacking.join(', ')}; kubectl apply -f deploy/crds.yaml`;
  const database =
    northbound === undefined
      ? '- not looked at (--ovn-nb)'
      : northbound.problem !== undefined
        ? `✖ ${northbound.problem}`
        : `✔ schema ${northbound.schema ?? ''}${northbound.missing.length === 0 ? '' : `; without ${northbound.missing.join(', ')}, which is left out`}`;
  return [
    `client      kiln ${VERSION}, Node.js ${process.version}`,
    `kubernetes  ${kubernetes}`,
    `controller  ${leader === undefined ? '- nobody leads' : `${leader.live ? '✔' : '✖'} ${leader.identity}`}`,
    `crds        ${crds}`,
    `northbound  ${database}`,
    '',
  ].join('\n');
}

function jsonText(what: object): string {
  return `${JSON.stringify({ apiVersion: 'kiln.io/v1', kind: 'Version', ...what }, undefined, 2)}\n`;
}
