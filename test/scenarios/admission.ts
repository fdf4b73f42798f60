/** The admission webhook in front of an API server, served by a controller that only stands by. */
import { freePorts } from '../../lab/programs/free-port.ts';
import type { ControllerProcess } from '../../src/testing/controller-process.ts';
import { applyWebhookSecret } from '../../src/testing/controller-account.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { webhookConfiguration } from '../../src/webhook/webhook-configuration.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unserved-kinds.ts';
import { subnetYaml } from './pods.ts';

export interface Admission {
  /** The process that answers. */
  readonly controller: ControllerProcess;
}

/** Runs `use` while the webhook answers, and takes everything away again. */
export async function withWebhook(
  cluster: ScenarioCluster,
  use: (admission: Admission) => Promise<void>,
  {
    flags = [],
    kubeconfig,
    knows = true,
  }: {
    readonly flags?: readonly string[];
    readonly kubeconfig?: string;
    /** Whether the webhook knows the API server by its certificate. */
    readonly knows?: boolean;
  } = {},
): Promise<void> {
  const [port = 0] = await freePorts(1);
  await applyWebhookSecret(cluster);
  const controller = cluster.startController([...webhookFlags(port), ...(knows ? knownBy(cluster) : []), ...flags], kubeconfig);
  try {
    await controller.untilLogged('webhook serves');
    await configure(cluster, port);
    await use({ controller });
  } finally {
    await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'kiln', '--ignore-not-found']);
    await controller.stop();
    await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', '-n', 'kube-system', '--ignore-not-found']);
  }
}

/**
 * Waits until who answers refuses it: it hears of objects by watches of its own. A dry run: nothing is stored, and nothing goes.
 * @param command of kubectl, with what a person would type
 */
export async function wouldBeRefused(cluster: ScenarioCluster, command: readonly string[], input?: string): Promise<void> {
  await cluster.eventually(`kubectl ${command.join(' ')} would be refused`, async () => {
    await cluster.kubectlFails([...command, '--dry-run=server'], input);
    return true;
  });
}

/** Waits until who answers lets it through, in a dry run as well. */
export async function wouldPass(cluster: ScenarioCluster, command: readonly string[], input?: string): Promise<void> {
  await cluster.eventually(`kubectl ${command.join(' ')} would pass`, async () => {
    await cluster.kubectl([...command, '--dry-run=server'], input);
    return true;
  });
}

export function webhookFlags(port: number): readonly string[] {
  return [`--webhook-bind-address=127.0.0.1:${port}`, '--webhook-host=127.0.0.1'];
}

/** The webhook asks for the API server's certificate, and answers nobody without it. */
export function knownBy(cluster: ScenarioCluster): readonly string[] {
  return [`--webhook-client-ca=${cluster.api.frontProxyAuthority}`, '--webhook-unknown-clients=refuse'];
}

/** Returns when the API server asks: it follows its own configuration a moment later. */
export async function configure(cluster: ScenarioCluster, port: number): Promise<void> {
  const wanted = webhookConfiguration(
    { url: `https://127.0.0.1:${port}/validate` },
    UNIMPLEMENTED_KINDS.map(({ resource }) => resource),
  );
  // How long an API server waits for the answer is not what is tested: beyond that it lets through.
  const patient = { ...wanted, webhooks: wanted.webhooks?.map((one) => ({ ...one, timeoutSeconds: 30 })) };
  await cluster.apply(JSON.stringify(patient));
  await cluster.eventually('the webhook is asked', () => isRefused(cluster));
}

/** Whether nonsense is refused; nothing is stored either way. */
export async function isRefused(cluster: ScenarioCluster): Promise<boolean> {
  try {
    await cluster.kubectl(
      ['create', '--dry-run=server', '--validate=false', '-f', '-'],
      subnetYaml('no-network', { cidrBlock: 'nonsense' }),
    );
    return false;
  } catch {
    return true;
  }
}
