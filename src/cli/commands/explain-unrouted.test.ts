/** A pod with an address and a port but no route out of its node: its condition, `kiln explain` and `kiln status` report that. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/kubernetes/core.ts';
import { POD_CONDITION } from '../../api/well-known.ts';
import { PODS } from '../../kube/resource.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { until } from '../../testing/until.ts';
import { InProcessCluster } from '../../testing/in-process-cluster.ts';
import { conditionOf } from '../../world/conditions.ts';
import { traitsOf } from '../../world/resources.ts';
import { runHere } from '../testing/command-here.ts';

test('a port group of another program: the pods that need it are not routed, and pods, kiln explain and kiln status report it', async () => {
  await using cluster = await InProcessCluster.start();
  const { client, ovn, kubeconfig } = cluster;
  await ovn.nbctl('pg-add', 'node.n1', '--', 'set', 'Port_Group', 'node.n1', 'external_ids:k8s.ovn.org/name=n1');
  await client.create(traitsOf('nodes'), { metadata: { name: 'n1' } });
  await client.create(PODS, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  } as unknown as KubeObject);
  const web = (): Promise<KubeObject & Pod> => client.get<KubeObject & Pod>(PODS, { namespace: 'default', name: 'web' });
  const condition = async (): Promise<string> => {
    const { status, reason, message } = conditionOf('pods', await web(), POD_CONDITION) ?? {};
    return `${status ?? ''} ${reason ?? ''} ${message ?? ''}`;
  };
  await cluster.withController({}, async (controller) => {
    await until('the pod says why', async () => (await condition()).startsWith('False RowConflict'));
    assert.match(await condition(), /^False RowConflict port web\.default is not routed without port group node\.n1: .*ovn-kubernetes/);
    const annotations = (await web()).metadata.annotations ?? {};
    assert.deepEqual([annotations['ovn.kubernetes.io/allocated'], annotations['ovn.kubernetes.io/routed']], ['true', undefined]);
    await controller.untilQuiet();
    const env = { KILN_OVN_NB: ovn.unix };
    const explained = await runHere(['explain', 'pod', 'web', '-n', 'default', `--kubeconfig=${kubeconfig}`], env);
    assert.equal(explained.exit, 1);
    assert.match(explained.out, /waits: port web\.default is not routed without port group node\.n1: /);
    const status = await runHere(['status', `--kubeconfig=${kubeconfig}`], env);
    assert.match(status.out, /port web\.default is not routed without port group node\.n1: /);

    await ovn.nbctl('pg-del', 'node.n1');
    await until('the pod is routed', async () => (await web()).metadata.annotations?.['ovn.kubernetes.io/routed'] === 'true');
    await until('nothing is wrong', async () => !(await condition()).startsWith('False'));
  });
});
