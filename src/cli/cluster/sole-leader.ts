/** Acquires the controller's Lease for a command: as long as the command holds it, no controller writes or becomes the leader. */
import { CONTROLLER_LEASE, KUBE_OVN_LEASE } from '../../api/well-known.ts';
import { ForeignLeaseWatch } from '../../kube/leader/foreign-lease-watch.ts';
import { LeaderElection } from '../../kube/leader/leader-election.ts';
import type { KubeError } from '../../kube/errors.ts';
import type { Lease } from '../../kube/leader/lease.ts';
import type { Resource } from '../../kube/resource.ts';
import { LEASES } from '../../kube/resource.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { commandText } from '../../text/command-text.ts';

/** The Lease of a controller that was killed stays valid for its full duration; a running controller renews it within that time. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 250;
const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };

export class SoleLeader implements AsyncDisposable {
  /** Value of `leaseTransitions` when the Lease was acquired. */
  readonly gains: number;
  readonly #election: LeaderElection;

  private constructor(election: LeaderElection, gains: number) {
    this.#election = election;
    this.gains = gains;
  }

  /**
   * @throws CommandFailure while a controller of Kiln or Kube-OVN leads
   * @throws KubeError if the API server rejects a write of the Lease
   */
  static async gain(command: string, namespace: string, { client, say }: Pick<CommandIo, 'client' | 'say'>): Promise<SoleLeader> {
    let gains: number | undefined;
    const kubeOvn = new ForeignLeaseWatch({ client, namespace, name: KUBE_OVN_LEASE });
    let rejected: KubeError | undefined;
    const election = new LeaderElection({
      client,
      namespace,
      name: CONTROLLER_LEASE,
      onGained: (transitions) => (gains = transitions),
      onError: (error) => (rejected = error.retryable ? undefined : error),
    });
    kubeOvn.start();
    election.start();
    try {
      const began = performance.now();
      const renewed = new Set<string>();
      let said = false;
      for (;;) {
        if (gains !== undefined && kubeOvn.state.kind === 'free') return new SoleLeader(election, gains);
        // The Lease is free, and this user may not write it: a further wait would end in a message about a leader that does not exist.
        if (rejected !== undefined) throw rejected;
        const { spec } = (await client.find<Lease>(LEASES, { namespace, name: CONTROLLER_LEASE })) ?? {};
        if ((spec?.holderIdentity ?? '') !== '' && spec?.holderIdentity !== election.identity) renewed.add(spec?.renewTime ?? '');
        const waited = performance.now() - began;
        if (waited > PATIENCE_MS || renewed.size > 1)
          throw await stillLed(
            command,
            namespace,
            kubeOvn.state.kind === 'held' ? kubeOvn.state.holder : undefined,
            election.holder,
            client,
          );
        if (waited > 1_000 && !said) say(`waiting for Lease ${namespace}/${CONTROLLER_LEASE}, held by ${election.holder}`);
        said = waited > 1_000;
        await new Promise((done) => setTimeout(done, LOOK_MS));
      }
    } catch (error) {
      await election.stop();
      throw error;
    } finally {
      await kubeOvn.close();
    }
  }

  get leads(): boolean {
    return this.#election.isLeader();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#election.stop();
  }
}

async function stillLed(
  command: string,
  namespace: string,
  kubeOvn: string | undefined,
  holder: string,
  client: CommandIo['client'],
): Promise<CommandFailure> {
  const what = `kiln ${command} did nothing`;
  const [deployment, led, who] =
    kubeOvn === undefined
      ? [CONTROLLER_LEASE, `a controller leads: ${holder} holds Lease ${namespace}/${CONTROLLER_LEASE}`, holder]
      : [
          'kube-ovn-controller',
          `Kube-OVN's controller is active (${kubeOvn} holds Lease ${namespace}/${KUBE_OVN_LEASE}), and the objects are its as well`,
          kubeOvn,
        ];
  // A controller outside of the cluster, such as that of a laboratory, has no Deployment.
  const isAbsent = await client.find(DEPLOYMENTS, { namespace, name: deployment }).then(
    (found) => found === undefined,
    () => false,
  );
  const next = isAbsent
    ? `end the process ${who}, which no Deployment of namespace ${namespace} runs: Ctrl-C in its terminal`
    : commandText`kubectl -n ${namespace} scale deployment ${deployment} --replicas=0`;
  return new CommandFailure(EXIT.findings, what, led, next);
}
