/** An admission policy of another program denies IP objects: no address is held without an IP object. */
import assert from 'node:assert/strict';
import { freePorts } from '../../lab/programs/free-port.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { startWebhook } from '../conformance/webhook-under-test.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, deletePod, subnetYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const BOUND = 'kiln.io/NetworkBound';

function policyYaml(port: number, caBundle: string): string {
  return `---\n${JSON.stringify({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'foreign-policy' },
    webhooks: [
      {
        name: 'policy.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle },
        rules: [{ apiGroups: ['kubeovn.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['ips'], scope: '*' }],
        failurePolicy: 'Fail',
        timeoutSeconds: 30,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  })}\n`;
}

async function counts(cluster: ScenarioCluster): Promise<string> {
  const { status } = await cluster.get('subnet', 'friday-net');
  return `${String(status?.['v4usingIPs'])} used, ${String(status?.['v4availableIPs'])} free`;
}

async function untilRejectionReported(cluster: ScenarioCluster, pod: string, pattern: RegExp): Promise<void> {
  await cluster.eventually(`a condition of pod ${pod} reports it`, async () => {
    const { reason, message } = await condition(cluster, 'pod', pod, BOUND, 'False', 'friday');
    return reason === 'IPRefused' && pattern.test(message);
  });
}

export const rejectedIpObjects: readonly Scenario[] = [
  {
    alone: true,
    name: 'an IP object that a policy rejects: the pod reports it, its address is free for another, over kill -9 too; it is bound when the policy is gone',
    run: async (cluster) => {
      const denied = new Set(['web.friday']);
      let reviews = 0;
      const policy = await startWebhook(({ request }) => {
        if (!denied.has(request.name ?? '')) return { allowed: true };
        reviews++;
        return { allowed: false, status: { code: 403, message: 'no IP objects on Fridays' } };
      });
      try {
        const subnet = subnetYaml('friday-net', {
          cidrBlock: '10.69.0.0/29',
          excludeIps: ['10.69.0.4..10.69.0.6'],
          namespaces: ['friday'],
        });
        await cluster.apply(namespaceYaml('friday') + subnet + policyYaml(policy.port, policy.caBundle));
        await cluster.eventually('the API server calls the policy', async () => {
          const text = await cluster.kubectl(['get', 'subnet', 'friday-net', '-o', 'jsonpath={.status.v4availableIPs}']);
          return text === '2' && (await deniesIps(cluster));
        });
        await cluster.apply(podYaml('friday', 'web'));
        await untilRejectionReported(
          cluster,
          'web',
          /IP web\.friday cannot be created.*no IP objects on Fridays.*it has no address.*kubectl get validating/,
        );
        await cluster.eventually('an Event reports it', async () =>
          (await cluster.events('Pod', 'web', 'friday')).some(({ reason }) => reason === 'IPRefused'),
        );
        await cluster.eventually('nothing is counted', async () => (await counts(cluster)) === '0 used, 2 free');

        await cluster.controller.kill9();
        const [before, since] = [reviews, performance.now()];
        await cluster.ensureController();
        await cluster.eventually('a fresh controller tries', () => Promise.resolve(reviews > before));
        await untilRejectionReported(cluster, 'web', /no IP objects on Fridays/);
        await cluster.apply(podYaml('friday', 'one') + podYaml('friday', 'two'));
        const others = [await addressOf(cluster, 'friday', 'one'), await addressOf(cluster, 'friday', 'two')];
        assert.deepEqual(others.toSorted(), ['10.69.0.2', '10.69.0.3']);
        await cluster.eventually('exactly theirs are counted', async () => (await counts(cluster)) === '2 used, 0 free');
        // The interval between tries grows to 20 s: a few tries in the beginning, then by the time that this host takes.
        const most = 20 + (performance.now() - since) / 10_000;
        assert.ok(reviews - before < most, `it was tried ${reviews - before} times`);

        await deletePod(cluster, 'friday', 'two');
        denied.clear();
        await cluster.eventually('it is bound', async () => (await cluster.find('ip', 'web.friday')) !== undefined);
        assert.equal(await addressOf(cluster, 'friday', 'web'), others[1]);
        await condition(cluster, 'pod', 'web', BOUND, 'True', 'friday');

        // The webhook of the policy does not answer.
        await deletePod(cluster, 'friday', 'one');
        await cluster.apply(policyYaml((await freePorts(1))[0] ?? 1, policy.caBundle));
        await cluster.eventually('the policy has no endpoint', async () => await deniesIps(cluster));
        await cluster.apply(podYaml('friday', 'late'));
        await untilRejectionReported(cluster, 'late', /failed calling webhook "policy\.example\.com"/);
        await cluster.eventually('only the other one is counted', async () => (await counts(cluster)) === '1 used, 1 free');
        await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'foreign-policy']);
        await cluster.eventually('it is bound', async () => (await cluster.find('ip', 'late.friday')) !== undefined);
        assert.equal(await addressOf(cluster, 'friday', 'late'), others[0]);
        await cluster.removeAll(subnet + namespaceYaml('friday'));
        await untilDeleted(cluster, 'subnet', 'friday-net');
      } finally {
        await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'foreign-policy', '--ignore-not-found']);
        policy.close();
      }
    },
  },
];

/** Whether IP objects are denied by now. It is a dry run: nothing is stored. */
async function deniesIps(cluster: ScenarioCluster): Promise<boolean> {
  const ip = { apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata: { name: 'web.friday' }, spec: { subnet: 'friday-net' } };
  try {
    await cluster.kubectl(['create', '--dry-run=server', '--validate=false', '-f', '-'], JSON.stringify(ip));
    return false;
  } catch {
    return true;
  }
}
