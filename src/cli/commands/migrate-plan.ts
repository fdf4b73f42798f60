/** `kiln migrate plan`: what a take-over from Kube-OVN would stop, change, leave and keep. It only reads. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { allKinds } from '../../api/kinds/crds.ts';
import { KUBE_OVN_LEASE } from '../../api/well-known.ts';
import { readOlderDefinitions } from '../../controller/reading/older-definitions.ts';
import { isKubeError } from '../../kube/errors.ts';
import { LEASES } from '../../kube/resource.ts';
import { Networks } from '../../preview/foresight.ts';
import { commandText } from '../../text/command-text.ts';
import { VERSION } from '../../runtime/version.ts';
import type { Settings } from '../../world/settings.ts';
import { resourcesWith } from '../../world/resources.ts';
import { namespaceName } from '../arguments/name-arguments.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { ControllerDeployment, KubeOvnController } from '../migration/kube-ovn-controller.ts';
import { DEPLOYMENTS, KUBE_OVN_CONTROLLER, kubeOvnControllerOf } from '../migration/kube-ovn-controller.ts';
import type { KubeOvnFlags } from '../migration/kube-ovn-flags.ts';
import { kubeOvnFlags } from '../migration/kube-ovn-flags.ts';
import { takeOver } from '../migration/take-over.ts';
import { takeOverLines } from '../migration/take-over-text.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { networkSettings } from '../settings/network-flags.ts';
import { openedPreview } from './plan.ts';
import { ovnVersion, servedKinds } from './version.ts';

export interface MigratePlanFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | StructuredFormat;
  readonly kubeOvnNamespace: string;
}

const EXAMPLES = `
Examples:
  kiln migrate plan                                what a take-over would stop, change, leave and keep; it finds OVN by itself
  kiln migrate plan --ovn-nb tcp:10.0.0.1:6641     OVN at this address
  kiln migrate plan -o wide                        everything, each with the next command
  kiln migrate plan -o json | jq .stops            for programs
  kiln migrate plan --tenancy namespaced           and which pods would not be admitted in this mode
`;

const EXIT_CODES = `
Exit codes: 0 nothing would stop, 1 something would, 2 wrong usage, 3 cluster or database unreachable, or forbidden, 4 timed out.
The network settings are those of Kube-OVN's controller, from the flags in its Deployment.
`;

export function addMigratePlan(migrate: Command): void {
  const command = migrate
    .command('plan')
    .description(
      'print versions, features in use that Kiln does not implement, what a take-over would write, and the neighbours in OVN; reads only',
    )
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--kube-ovn-namespace <name>', "namespace of Kube-OVN's controller", namespaceName, 'kube-system')
    .addOption(
      new Option('-o, --output <format>', 'output format; wide: everything')
        .choices(['table', 'wide', ...STRUCTURED_FORMATS])
        .default('table'),
    );
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (flags: MigratePlanFlags) => {
    process.exitCode = await onCluster('migrate plan', flags, (io) => runMigratePlan(flags, io), { onlyReads: true });
  });
}

/** @returns the exit code */
export async function runMigratePlan(flags: MigratePlanFlags, io: CommandIo): Promise<number> {
  const { gitVersion } = await io.client.version();
  const [controller, lease, served] = await Promise.all([controllerOf(flags, io), leaseHolder(flags, io), servedKinds(io)]);
  const flagged = kubeOvnFlags(controller?.args ?? []);
  const { preview, rows, schema } = await openedPreview('migrate plan', flags, io, settingsOf(flags, flagged));
  const networks = new Networks(preview.world);
  await readOlderDefinitions(io.client, preview.world, resourcesWith('definition'));
  io.say('taking over in memory');
  const plan = takeOver(preview, networks, flagged.without);
  for (const failure of preview.failures) io.say(`warning: a rule failed, so the plan may lack something: ${failure}`);
  const missing = allKinds.map(({ plural }) => plural).filter((plural) => !served.includes(plural));
  const versions: Versions = {
    kiln: VERSION,
    kubernetes: gitVersion,
    kubeOvn: controller === undefined ? null : { ...controller, leader: lease },
    ovn: { schema: schema.version, release: ovnVersion(rows) },
    crds: { served: served.length, missing },
  };
  if (flags.output === 'table' || flags.output === 'wide') {
    io.out([...versionLines(versions, flagged), '', ...takeOverLines(plan, flags.output)]);
  } else io.out(structuredText(flags.output, 'MigrationPlan', { versions, settings: flagged.asFlags, ...plan }));
  io.say(plan.stops.length === 0 ? 'nothing would stop' : `${plan.stops.length} would stop, or follow no change any more`);
  return plan.stops.length === 0 ? EXIT.fine : EXIT.findings;
}

/** Undefined if there is none, or if the user may not read it. */
async function controllerOf({ kubeOvnNamespace: namespace }: MigratePlanFlags, io: CommandIo): Promise<KubeOvnController | undefined> {
  const named = `Deployment ${namespace}/${KUBE_OVN_CONTROLLER}`;
  try {
    const found = await io.client.find<ControllerDeployment>(DEPLOYMENTS, { namespace, name: KUBE_OVN_CONTROLLER });
    if (found !== undefined) return kubeOvnControllerOf(found);
    io.say(`hint: there is no ${named}: Kube-OVN's release is not known, and its default settings are assumed (--kube-ovn-namespace)`);
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    io.say(`hint: ${named} may not be read: Kube-OVN's release is not known, and its default settings are assumed`);
  }
  return undefined;
}

async function leaseHolder({ kubeOvnNamespace: namespace }: MigratePlanFlags, io: CommandIo): Promise<string | null> {
  try {
    const lease = await io.client.find<{
      readonly metadata: { readonly name: string };
      readonly spec?: { readonly holderIdentity?: string };
    }>(LEASES, { namespace, name: KUBE_OVN_LEASE });
    return lease?.spec?.holderIdentity || null;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    return null;
  }
}

/** Flags of this command take precedence. */
function settingsOf(flags: MigratePlanFlags, { settings }: KubeOvnFlags): Settings {
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
  const network = networkSettings({ ...settings, ...given });
  if (network.ok) return network.settings;
  throw new CommandFailure(EXIT.usage, 'these settings contradict each other', network.problem, 'kiln migrate plan --help');
}

interface Versions {
  readonly kiln: string;
  readonly kubernetes: string;
  readonly kubeOvn: (KubeOvnController & { readonly leader: string | null }) | null;
  readonly ovn: { readonly schema: string; readonly release: string | null };
  readonly crds: { readonly served: number; readonly missing: readonly string[] };
}

/** The releases of Kube-OVN whose layout is known. */
const [OLDEST, NEWEST] = [12, 17];

function versionLines({ kiln, kubernetes, kubeOvn, ovn, crds }: Versions, { asVariables }: KubeOvnFlags): readonly string[] {
  return [
    `kube-ovn    ${kubeOvnText(kubeOvn)}`,
    `kiln        ${kiln}`,
    `kubernetes  ${kubernetes}`,
    `ovn         schema ${ovn.schema}${ovn.release === null ? '' : `, OVN ${ovn.release}`}`,
    `crds        ${crds.missing.length === 0 ? `kubeovn.io/v1, all ${crds.served} kinds` : `not served: ${crds.missing.join(', ')}; kubectl apply -f deploy/crds.yaml`}`,
    `settings    ${asVariables.length === 0 ? "Kube-OVN's defaults" : commandText`kubectl -n kube-system set env deployment/kiln-controller ${asVariables}`}`,
  ];
}

function kubeOvnText(kubeOvn: Versions['kubeOvn']): string {
  if (kubeOvn === null) return 'not known';
  const { version, image, replicas, leader } = kubeOvn;
  const [major, minor] = (version ?? '').split('.').map(Number);
  const untried = version !== null && (major !== 1 || minor === undefined || minor < OLDEST || minor > NEWEST);
  return [
    `${version ?? 'release not known'} (${image}), ${replicas} ${replicas === 1 ? 'replica' : 'replicas'}`,
    leader === null ? 'no controller leads' : `${leader} leads`,
    ...(untried ? [`its layout is not known to Kiln, which knows 1.${OLDEST} to 1.${NEWEST}`] : []),
  ].join('; ');
}
