/** The admission webhook called by an API server and served by a controller on standby. */
import { freePorts } from '../../lab/programs/free-port.ts';
import type { ControllerProcess } from '../../src/testing/controller-process.ts';
import { applyWebhookSecret } from '../../src/testing/controller-account.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { webhookConfiguration } from '../../src/webhook/manifests/webhook-configuration.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { subnetYaml } from './pods.ts';

export interface Admission {
  /** The controller process that serves the webhook. */
  readonly controller: ControllerProcess;
}

/** Runs `use` while the webhook is served, and removes everything afterwards. */
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
    /** Whether the webhook authenticates the API server by its client certificate. */
    readonly knows?: boolean;
  } = {},
): Promise<void> {
  const [port = 0] = await freePorts(1);
  await applyWebhookSecret(cluster);
  const controller = cluster.startController(
    [...webhookFlags(port), ...(knows ? clientAuthentication(cluster) : []), ...flags],
    kubeconfig,
  );
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
 * Waits until the webhook denies the command: it observes objects by its own watches, a moment later. The command is a dry run, so nothing
 * is stored or deleted.
 * @param command of kubectl, as a user would type it
 */
export async function untilDenied(cluster: ScenarioCluster, command: readonly string[], input?: string): Promise<void> {
  await cluster.eventually(`kubectl ${command.join(' ')} is denied`, async () => {
    await cluster.kubectlFails([...command, '--dry-run=server'], input);
    return true;
  });
}

/** Waits until the webhook allows the command, also in a dry run. */
export async function untilAllowed(cluster: ScenarioCluster, command: readonly string[], input?: string): Promise<void> {
  await cluster.eventually(`kubectl ${command.join(' ')} is allowed`, async () => {
    await cluster.kubectl([...command, '--dry-run=server'], input);
    return true;
  });
}

export function webhookFlags(port: number): readonly string[] {
  return [`--webhook-bind-address=127.0.0.1:${port}`, '--webhook-host=127.0.0.1'];
}

/** The webhook requires the client certificate of the API server, and denies every request without it. */
export function clientAuthentication(cluster: ScenarioCluster): readonly string[] {
  return [`--webhook-client-ca=${cluster.api.frontProxyAuthority}`, '--webhook-unknown-clients=refuse'];
}

/** Returns once the API server calls the webhook: a change of its configuration takes effect a moment later. */
export async function configure(cluster: ScenarioCluster, port: number): Promise<void> {
  const configuration = webhookConfiguration(
    { url: `https://127.0.0.1:${port}/validate` },
    UNIMPLEMENTED_KINDS.map(({ resource }) => resource),
  );
  // The timeout of the API server is not what is tested. With a short one a slow webhook would be skipped, and the request allowed.
  const withLongTimeout = { ...configuration, webhooks: configuration.webhooks?.map((one) => ({ ...one, timeoutSeconds: 30 })) };
  await cluster.apply(JSON.stringify(withLongTimeout));
  await cluster.eventually('the API server calls the webhook', () => deniesInvalidSubnet(cluster));
}

/** Whether an invalid Subnet is denied. It is a dry run: nothing is stored. */
export async function deniesInvalidSubnet(cluster: ScenarioCluster): Promise<boolean> {
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
