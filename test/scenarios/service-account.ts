/** The controller with only what deploy/rbac.yaml and deploy/webhook.yaml grant and deploy/admission-policy.yaml allows. */
import assert from 'node:assert/strict';
import { freePorts } from '../../lab/programs/free-port.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { isKubeError } from '../../src/kube/errors.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { webhookConfiguration } from '../../src/webhook/manifests/webhook-configuration.ts';
import type { Theft } from './account-thefts.ts';
import { SECRET_THEFTS, THEFTS } from './account-thefts.ts';
import { applyWebhookSecret, POLICIES_SINCE } from '../../src/testing/controller-account.ts';
import { configure, deniesInvalidSubnet, clientAuthentication, webhookFlags } from './admission.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { addressOf, condition, namespaceYaml, podYaml, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const OF_EARLIER_RELEASE = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'kiln-webhook-tls', namespace: 'kube-system' },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': 'Y2VydA==', 'tls.key': 'a2V5' },
};

/** The objects that a thief of the token finds, as an administrator and tenants created them. */
const FOUND = `${namespaceYaml('vault')}
${vpcYaml('vault')}${subnetYaml('vault-net', { vpc: 'vault', cidrBlock: '10.143.0.0/24', namespaces: ['vault'], private: true })}
---
apiVersion: v1
kind: Secret
metadata: {name: other, namespace: kube-system}
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: vault}
spec: {selector: {app: bank}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: shut, namespace: vault}
spec: {podSelector: {}}
---
apiVersion: v1
kind: Event
metadata: {name: theirs, namespace: vault}
involvedObject: {namespace: vault}
reportingComponent: default-scheduler
---
apiVersion: kubeovn.io/v1
kind: Vip
metadata: {name: kept}
spec: {subnet: vault-net}
---
apiVersion: kubeovn.io/v1
kind: OvnEip
metadata: {name: kept}
spec: {externalSubnet: vault-net, type: nat}
---
apiVersion: kubeovn.io/v1
kind: OvnEip
metadata: {name: vault-vault-net}
spec: {externalSubnet: vault-net, type: nat}
---
apiVersion: kubeovn.io/v1
kind: SecurityGroup
metadata: {name: shut}
spec: {}
---
apiVersion: kubeovn.io/v1
kind: IPPool
metadata: {name: few}
spec: {subnet: vault-net, ips: [10.143.0.40..10.143.0.50]}
---
apiVersion: kubeovn.io/v1
kind: Vlan
metadata: {name: one}
spec: {provider: net}
---
apiVersion: kubeovn.io/v1
kind: OvnFip
metadata: {name: one}
spec: {}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: net, namespace: vault}
spec: {config: '{"cniVersion": "0.3.1", "name": "net", "type": "bridge"}'}
`;

/** Whether the API server answers "forbidden". Any other answer is a theft, or a row that tests nothing. */
async function outcomeOf(thief: KubeClient, { method, path, body }: Theft): Promise<string> {
  const contentType =
    method === 'PATCH' ? (Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json') : undefined;
  try {
    await thief.transport.request({
      subject: { verb: method, resource: path },
      method,
      path: method === 'GET' ? path : `${path}?dryRun=All`,
      ...(body !== undefined && { body }),
      ...(contentType !== undefined && { contentType }),
    });
    return 'done';
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return 'denied';
    return isKubeError(error, 'KUBE_DENIED') && error.message.includes('the controller of Kiln may only')
      ? 'denied by a policy'
      : String(error);
  }
}

/** The thefts that were not denied, each with its outcome. @param by what must deny them */
async function successfulThefts(
  thief: KubeClient,
  thefts: readonly Theft[],
  node: string,
  by: 'denied' | 'denied by a policy' = 'denied',
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const theft of thefts) {
    const outcome = await outcomeOf(thief, { ...theft, path: theft.path.replace('<node>', node) });
    if (!outcome.startsWith(by)) found.push(`${theft.what}: ${outcome}`);
  }
  return found;
}

/** The controller reads the one ConfigMap, labels the nodes that it names, and takes the labels back. */
async function gatewayByConfigMap(cluster: ScenarioCluster): Promise<void> {
  const label = async (): Promise<unknown> => (await cluster.get('node', 'node-1')).metadata.labels?.['ovn.kubernetes.io/external-gw'];
  const config = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: ovn-external-gw-config, namespace: kube-system}
data: {enable-external-gw: "true", external-gw-nodes: node-1, nic-ip: 172.57.0.254/16, external-gw-addr: 172.57.0.1}
`;
  await cluster.apply(config);
  await cluster.eventually('the node is labelled', async () => (await label()) === 'true');
  await cluster.deleteAll(config);
  await cluster.eventually('the label is gone', async () => (await label()) === undefined);
}

export const serviceAccount: readonly Scenario[] = [
  {
    name: 'the controller works with the ServiceAccount, the rights and the policies of deploy, and the API server forbids none of its requests',
    alone: true,
    only: 'real',
    run: async (cluster) => {
      await cluster.controller.stop();
      await applyWebhookSecret(cluster);
      const [port = 0] = await freePorts(1);
      const controller = cluster.startController([...webhookFlags(port), ...clientAuthentication(cluster)]);
      await controller.untilLogged('writing');
      await controller.untilLogged('webhook serves');
      await configure(cluster, port);
      const all =
        vpcYaml('least') +
        subnetYaml('least-net', { vpc: 'least', cidrBlock: '10.142.0.0/24', namespaces: ['least'] }) +
        namespaceYaml('least');
      const certificate = async (): Promise<string> =>
        await cluster.kubectl([
          'get',
          'secret',
          'kiln-webhook-tls',
          '-n',
          'kube-system',
          '-o',
          'jsonpath={.metadata.uid} {.data.tls\\.crt}',
        ]);
      const before = await certificate();
      assert.match(before, / \S{100}/);
      await applyWebhookSecret(cluster);
      assert.equal(await certificate(), before, 'applying the manifest again takes no certificate away');
      const outside = podYaml('least', 'waits', { annotations: { 'ovn.kubernetes.io/ip_address': '1.2.3.4' } });
      await cluster.apply(
        all +
          podYaml('least', 'pod') +
          '---\napiVersion: v1\nkind: Service\nmetadata: {name: svc, namespace: least}\nspec: {ports: [{port: 80}]}\n',
      );
      assert.equal(await addressOf(cluster, 'least', 'pod'), '10.142.0.2');
      assert.match(await cluster.kubectlFails(['apply', '--validate=false', '-f', '-'], outside), /1\.2\.3\.4/);
      await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'kiln']);
      await cluster.eventually('the API server no longer calls the webhook', async () => !(await deniesInvalidSubnet(cluster)));
      await cluster.apply(outside);
      await condition(cluster, 'pod', 'waits', 'kiln.io/NetworkBound', 'False', 'least');
      await gatewayByConfigMap(cluster);
      // No controller of this API server ends what is in a namespace.
      await cluster.kubectl(['delete', 'service', 'svc', '-n', 'least']);
      await cluster.removeAll(all);
      await cluster.converged();
      const forbidden = (await controller.log()).filter((line) => /forbidden|KUBE_DENIED/i.test(JSON.stringify(line)));
      assert.deepEqual(forbidden, []);
      await controller.stop();
      await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', '-n', 'kube-system']);
      // Releases whose manifest had no Secret created it themselves, with another type, and the type of a Secret cannot be changed.
      await cluster.kubectl(['create', '-f', '-'], JSON.stringify(OF_EARLIER_RELEASE));
      await applyWebhookSecret(cluster);
      assert.equal((await certificate()).split(' ')[1], OF_EARLIER_RELEASE.data['tls.crt']);
      await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', '-n', 'kube-system']);
    },
  },
  {
    name: 'a thief of the token of the controller changes nothing but what Kiln writes, whatever the Roles grant',
    alone: true,
    only: 'real',
    apiServerSince: POLICIES_SINCE,
    run: async (cluster) => {
      const evictable = { 'autoscaler.kubernetes.io/allocated': 'true', 'autoscaler.kubernetes.io/safe-to-evict': 'false' };
      const host = podYaml('vault', 'host', { annotations: evictable }).replace('spec:\n', 'spec:\n  hostNetwork: true\n');
      await cluster.apply(FOUND + podYaml('vault', 'safe', { annotations: { 'example.com/keep': 'yes' } }) + host);
      await addressOf(cluster, 'vault', 'safe');
      await cluster.patch('vpc', 'vault', { metadata: { finalizers: ['kubeovn.io/kube-ovn-controller', 'example.com/mine'] } });
      const spec = {
        staticRoutes: [{ cidr: '10.8.0.0/24', nextHopIP: '10.143.0.9', policy: 'policyDst' }],
        policyRoutes: [{ priority: 7, match: 'ip4', action: 'drop', nextHopIP: '' }],
      };
      await cluster.patch('vpc', 'vault', { spec });
      const leading = webhookConfiguration(
        { service: { namespace: 'kube-system', name: 'kiln-webhook', path: '/validate', port: 443 } },
        UNIMPLEMENTED_KINDS.map(({ resource }) => resource),
      );
      await cluster.apply(JSON.stringify(leading));
      await cluster.converged();
      await applyWebhookSecret(cluster);
      const thief = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: cluster.controllerKubeconfig })));
      try {
        const [node = ''] = cluster.nodes;
        await cluster.kubectl(['label', 'node', node, 'ovn.kubernetes.io/external-gw=true']);
        assert.deepEqual(await successfulThefts(thief, THEFTS, node), []);
        await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', '-n', 'kube-system']);
        assert.deepEqual(
          await successfulThefts(
            thief,
            SECRET_THEFTS.filter(({ method }) => method === 'POST'),
            node,
          ),
          [],
          'while the Secret of the webhook is absent',
        );
        // Only the policies are tested here: a right that is granted by mistake later must not open anything.
        const granted = ['clusterrolebinding', 'too-much'];
        await cluster.kubectl(['create', ...granted, '--clusterrole=cluster-admin', '--serviceaccount=kube-system:kiln-controller']);
        await applyWebhookSecret(cluster);
        await cluster.eventually('the right is in effect', async () => {
          const question = ['auth', 'can-i', 'create', 'configmaps', '--as=system:serviceaccount:kube-system:kiln-controller'];
          return (await cluster.kubectl(question)).trim() === 'yes';
        });
        const notByRole = THEFTS.filter(({ byRole }) => byRole !== true);
        assert.deepEqual(await successfulThefts(thief, notByRole, node, 'denied by a policy'), [], 'with every right that there is');
        await cluster.kubectl(['delete', ...granted]);
        await cluster.kubectl(['label', 'node', node, 'ovn.kubernetes.io/external-gw-']);
      } finally {
        await thief.close();
      }
      await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'kiln']);
      await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', 'other', '-n', 'kube-system']);
      await cluster.patch('vpc', 'vault', { metadata: { finalizers: ['kubeovn.io/kube-ovn-controller'] } });
      await cluster.removeAll(FOUND);
    },
  },
];
