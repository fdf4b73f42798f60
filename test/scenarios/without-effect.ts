/** What a person wrote and has no effect is told: on the object, by `kiln explain` and by `kiln status`. */
import assert from 'node:assert/strict';
import { kiln } from './operator-commands.ts';
import { condition, custom, podYaml, running, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const SET = `---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: h91, annotations: {ovn.kubernetes.io/ip_pool: "10.191.0.20,10.191.0.21"}}
spec:
  replicas: 1
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers: [{name: main, image: busybox}]}
`;

export const withoutEffect: readonly Scenario[] = [
  {
    name: 'annotations without effect are told: a misspelt key, a Vip that leaves the pod out, an IPPool on a StatefulSet itself',
    run: async (cluster) => {
      const tenant = tenantYaml('h91', '10.191.0.0/24');
      const vip = custom('Vip', 'h91-vip', { subnet: 'h91-net', namespace: 'h91', selector: ['app:other'] });
      await cluster.apply(tenant);
      await condition(cluster, 'subnet', 'h91-net', 'Ready', 'True');
      await cluster.apply(vip + SET);
      await cluster.apply(
        podYaml('h91', 'web', { annotations: { 'ovn.kubernetes.io/ip_adress': '10.191.0.9', 'ovn.kubernetes.io/aaps': 'h91-vip' } }),
      );
      await running(cluster, 'h91', 'web');
      await cluster.eventually('both are told', async () => {
        const { message } = await condition(cluster, 'pod', 'web', 'kiln.io/WithoutEffect', 'True', 'h91');
        assert.match(message, /\[ovn\.kubernetes\.io\/ip_adress\] .* the nearest key that is read is ovn\.kubernetes\.io\/ip_address/);
        return message.includes('names Vip h91-vip, which leaves the pod out');
      });
      await cluster.eventually('an Event on the StatefulSet', async () =>
        (await cluster.events('StatefulSet', 'db', 'h91')).some(
          ({ reason, message }) => reason === 'AnnotationUnread' && message.includes('write it into spec.template.metadata.annotations'),
        ),
      );
      const listed = (await kiln(cluster, 'status', '-n', 'h91', '-o', 'name')).text;
      for (const one of ['pod/h91/web', 'statefulset.apps/h91/db']) assert.ok(listed.split('\n').includes(one), listed);
      assert.match(
        (await kiln(cluster, 'explain', 'statefulset', 'db', '-n', 'h91')).text,
        /\nnote: {2}without effect: StatefulSet h91\/db: /,
      );
      await cluster.kubectl(['label', 'pod', 'web', '-n', 'h91', 'app=other']);
      await cluster.kubectl(['annotate', 'pod', 'web', '-n', 'h91', 'ovn.kubernetes.io/ip_adress-']);
      await cluster.eventually('the condition is gone', async () => {
        const conditions =
          ((await cluster.get('pod', 'web', 'h91')).status as { readonly conditions?: readonly { readonly type: string }[] })?.conditions ??
          [];
        return conditions.every(({ type }) => type !== 'kiln.io/WithoutEffect');
      });
      await cluster.removeAll(vip + SET + tenant);
    },
  },
];
