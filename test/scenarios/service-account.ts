/** With the rights of deploy/rbac.yaml and deploy/webhook.yaml and no more. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../src/lab/programs/free-port.ts';
import { configure, isRefused, knownBy, webhookFlags } from './admission.ts';
import { addressOf, condition, namespaceYaml, podYaml, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const RBAC = join(import.meta.dirname, '../../deploy/rbac.yaml');
const WEBHOOK = join(import.meta.dirname, '../../deploy/webhook.yaml');

export const serviceAccount: readonly Scenario[] = [
  {
    name: 'the controller works with the ServiceAccount of deploy/rbac.yaml and the rights of deploy/webhook.yaml, and nothing is forbidden to it',
    alone: true,
    only: 'real',
    run: async (cluster) => {
      await cluster.apply(readFileSync(RBAC, 'utf8'));
      const token = await cluster.kubectl(
        ['create', '--raw', '/api/v1/namespaces/kube-system/serviceaccounts/kiln-controller/token', '-f', '-'],
        '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}',
      );
      const { status } = JSON.parse(token) as { readonly status: { readonly token: string } };
      const kubeconfig = `${cluster.api.kubeconfig}.service-account`;
      const admin = readFileSync(cluster.api.kubeconfig, 'utf8');
      await writeFile(
        kubeconfig,
        admin.replace(
          /("?token"?: ).*$/m,
          (_, key: string) => `${key}${JSON.stringify(status.token)}${/token.*,$/m.test(admin) ? ',' : ''}`,
        ),
        { mode: 0o600 },
      );
      await cluster.controller.stop();
      // The rights to its own certificate, without the Service that would lead nowhere here.
      const [, ...rights] = readFileSync(WEBHOOK, 'utf8').split(/^---\n/m);
      await cluster.apply(rights.filter((document) => document.includes('rbac.authorization.k8s.io')).join('---\n'));
      // The API server follows rights by watches of its own.
      for (const right of [
        ['patch', 'vpcs.kubeovn.io'],
        ['create', 'leases.coordination.k8s.io'],
        ['patch', 'validatingwebhookconfigurations.admissionregistration.k8s.io/kiln'],
        ['create', 'secrets'],
      ])
        await cluster.eventually(`it may ${right.join(' ')}`, async () => {
          const who = '--as=system:serviceaccount:kube-system:kiln-controller';
          return (await cluster.kubectl(['auth', 'can-i', ...right, who, '-n', 'kube-system'])).trim() === 'yes';
        });
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
