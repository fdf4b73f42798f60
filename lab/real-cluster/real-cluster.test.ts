import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findKubernetesProgram } from '../programs/kubernetes.ts';
import { until } from '../../src/testing/until.ts';
import { CLUSTER_DAEMONS, missingClusterPrograms, RealCluster } from './real-cluster.ts';

const CRDS = fileURLToPath(new URL('../../../shared/reference/kube-ovn-crds.yaml', import.meta.url));
const missing = missingClusterPrograms() ?? (findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : undefined);

describe('real cluster', { skip: missing ?? false }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = new RealCluster();
    await cluster.start();
  });
  after(async () => {
    await cluster.stop();
  });

  const names = async (kind: string, ...args: string[]): Promise<string[]> =>
    (await cluster.kubectl(['get', kind, '-o', 'name', ...args])).split('\n').filter((line) => line !== '');

  const apply = async (object: object): Promise<void> => {
    await cluster.kubectl(['apply', '--validate=false', '-f', '-'], JSON.stringify(object));
  };

  test('a second start starts nothing', async () => {
    const pids = CLUSTER_DAEMONS.map((which) => cluster.pid(which));
    await cluster.start();
    assert.deepEqual(
      CLUSTER_DAEMONS.map((which) => cluster.pid(which)),
      pids,
    );
  });

  test(
    'every CRD of Kube-OVN applies, and a Subnet with an empty field is stored',
    { skip: !existsSync(CRDS) && 'no ../shared' },
    async () => {
      await cluster.kubectl(['apply', '--validate=false', '-f', CRDS]);
      // kubectl fails if a definition has no conditions yet.
      await until('all definitions are established', () =>
        cluster.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s']).then(
          () => true,
          () => false,
        ),
      );
      assert.equal((await names('crd')).length, 25);
      const subnet = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 's' }, spec: { cidrBlock: '10.1.0.0/16', vlan: '' } };
      // The API server serves a kind a little later than the definition's condition says.
      await until('a Subnet is taken', () =>
        apply(subnet).then(
          () => true,
          () => false,
        ),
      );
      assert.equal(await cluster.kubectl(['get', 'subnet', 's', '-o', 'jsonpath={.spec.cidrBlock}']), '10.1.0.0/16');
    },
  );

  test('a StatefulSet makes its pods, and its namespace ends with everything in it', async () => {
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
    await apply({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'shop' },
      spec: {
        serviceName: 'db',
        replicas: 2,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: { app: 'db' } },
        template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'c', image: 'none' }] } },
      },
    });
    await until('two pods', async () => (await names('pod', '-n', 'shop')).length === 2);
    await cluster.kubectl(['delete', 'namespace', 'shop', '--timeout=120s']);
    assert.deepEqual(await names('namespace', '--field-selector=metadata.name=shop'), []);
  });

  test('dependents are deleted with their owner', async () => {
    const owned = { namespace: 'default', name: 'owned' };
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'default' } });
    const uid = await cluster.kubectl(['get', 'configmap', 'owner', '-o', 'jsonpath={.metadata.uid}']);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { ...owned, ownerReferences } });
    await cluster.kubectl(['delete', 'configmap', 'owner']);
    await until('the Secret is gone', async () => !(await names('secret')).includes('secret/owned'));
  });

  test('objects survive kill -9 of each daemon', async () => {
    await cluster.kubectl(['create', 'namespace', 'kept']);
    for (const which of CLUSTER_DAEMONS) {
      await cluster.kill(which);
      assert.equal(cluster.pid(which), undefined);
      await cluster.restart(which);
    }
    await until('the API server answers', () =>
      names('namespace').then(
        (all) => all.includes('namespace/kept'),
        () => false,
      ),
    );
  });

  test('stop leaves no process and no file', async () => {
    const { directory } = cluster;
    const pids = CLUSTER_DAEMONS.map((which) => cluster.pid(which) ?? assert.fail(`${which} does not run`));
    await cluster.stop();
    const alive = pids.filter((pid) => existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory));
    assert.deepEqual(alive, []);
    assert.equal(existsSync(directory), false);
  });
});
