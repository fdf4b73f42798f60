/** With what deploy/rbac.yaml and deploy/webhook.yaml grant and deploy/admission-policy.yaml lets through, and no more. */
import assert from 'node:assert/strict';
import { freePorts } from '../../src/lab/programs/free-port.ts';
import { configure, isRefused, knownBy, webhookFlags } from './admission.ts';
import { controllerAccount } from './controller-account.ts';
import { addressOf, condition, namespaceYaml, podYaml, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export const serviceAccount: readonly Scenario[] = [
  {
    name: 'the controller works with the ServiceAccount, the rights and the policies of deploy, and nothing is forbidden to it',
    alone: true,
    only: 'real',
    run: async (cluster) => {
      await cluster.controller.stop();
      const kubeconfig = await controllerAccount(cluster);
      const [port = 0] = await freePorts(1);
      const controller = cluster.startController([...webhookFlags(port), ...knownBy(cluster)], kubeconfig);
      await controller.untilLogged('writing');
      await controller.untilLogged('webhook serves');
      await configure(cluster, port);
      const all =
        vpcYaml('least') +
        subnetYaml('least-net', { vpc: 'least', cidrBlock: '10.142.0.0/24', namespaces: ['least'] }) +
        namespaceYaml('least');
      const outside = podYaml('least', 'waits', { annotations: { 'ovn.kubernetes.io/ip_address': '1.2.3.4' } });
      await cluster.apply(
        all +
          podYaml('least', 'pod') +
          '---\napiVersion: v1\nkind: Service\nmetadata: {name: svc, namespace: least}\nspec: {ports: [{port: 80}]}\n',
      );
      assert.equal(await addressOf(cluster, 'least', 'pod'), '10.142.0.2');
      assert.match(await cluster.kubectlRefuses(['apply', '--validate=false', '-f', '-'], outside), /1\.2\.3\.4/);
      await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'kiln']);
      await cluster.eventually('the webhook is asked no more', async () => !(await isRefused(cluster)));
      await cluster.apply(outside);
      await condition(cluster, 'pod', 'waits', 'kiln.io/NetworkBound', 'False', 'least');
      await cluster.eventually('an Event on the Service', async () => (await cluster.events('Service', 'svc', 'least')).length === 1);
      await cluster.removeAll(all);
      await cluster.settled();
      const forbidden = (await controller.log()).filter((line) => /forbidden/i.test(JSON.stringify(line)));
      assert.deepEqual(forbidden, []);
      await controller.stop();
      await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', '-n', 'kube-system']);
    },
  },
];
