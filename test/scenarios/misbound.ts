/** A Subnet that claims a namespace whose pods are already bound, and IP objects with a lease. */
import assert from 'node:assert/strict';
import { traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml } from './pods.ts';
import { poolYaml } from './namespaces.ts';
import type { Scenario } from './scenario.ts';

export const misbound: readonly Scenario[] = [
  {
    name: 'pods that a new Subnet makes misbound report it; with the policy evict they leave when their disruption budget allows',
    run: async (cluster) => {
      const served = (await cluster.kubectl(['api-versions'])).split('\n');
      const budget = `---
apiVersion: ${served.includes('policy/v1') ? 'policy/v1' : 'policy/v1beta1'}
kind: PodDisruptionBudget
metadata:
  name: tardy
  namespace: tardy
spec:
  minAvailable: 1
  selector:
    matchLabels: {app: tardy}
`;
      const owner = '---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: owner\n  namespace: tardy\n';
      await cluster.apply(namespaceYaml('tardy') + owner + budget);
      const { uid } = (await cluster.get('configmap', 'owner', 'tardy')).metadata;
      const owned = `metadata:\n  labels: {app: tardy}\n  ownerReferences:\n  - {apiVersion: v1, kind: ConfigMap, name: owner, uid: ${uid}, controller: true}\n`;
      await cluster.apply(podYaml('tardy', 'bare') + podYaml('tardy', 'made').replace('metadata:\n', owned));
      for (const name of ['bare', 'made']) assert.match(await addressOf(cluster, 'tardy', name), /^10\.16\./);
      const subnet = subnetYaml('tardy-net', { cidrBlock: '10.67.0.0/24', namespaces: ['tardy'] });
      await cluster.apply(subnet);
      for (const name of ['bare', 'made']) {
        const { reason, message } = await condition(cluster, 'pod', name, 'kiln.io/NetworkBound', 'True', 'tardy');
        assert.equal(reason, 'Misbound');
        assert.match(message, /Subnet ovn-default.*tardy-net/);
      }
      await cluster.eventually('an Event reports it', async () =>
        (await cluster.events('Pod', 'made', 'tardy')).some((event) => event.reason === 'Misbound'),
      );
      await cluster.kubectl(['annotate', 'namespace', 'tardy', 'kiln.io/misbound=evict']);
      await cluster.eventually('the condition reports that the pod is to be evicted', async () =>
        /disruption budgets/.test((await condition(cluster, 'pod', 'made', 'kiln.io/NetworkBound', 'True', 'tardy')).message),
      );
      await running(cluster, 'tardy', 'made');
      await cluster.kubectl(['delete', 'poddisruptionbudget', 'tardy', '-n', 'tardy']);
      await cluster.kubectl(['annotate', 'pod', 'made', '-n', 'tardy', 'kiln.io/look=again']);
      await untilDeleted(cluster, 'pod', 'made', 'tardy');
      await untilDeleted(cluster, 'ip', 'made.tardy');
      assert.match(
        (await condition(cluster, 'pod', 'bare', 'kiln.io/NetworkBound', 'True', 'tardy')).message,
        /no controller would create it again/,
      );
      assert.match(await addressOf(cluster, 'tardy', 'bare'), /^10\.16\./);
      await cluster.apply(podYaml('tardy', 'made'));
      assert.equal(await addressOf(cluster, 'tardy', 'made'), '10.67.0.2');
      await cluster.removeAll(subnet + namespaceYaml('tardy'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'tardy'), []);
    },
  },
  {
    name: 'pods that a new IPPool of their namespace leaves outside report it; new pods are inside; when the pool goes no pod is outside',
    run: async (cluster) => {
      const net = subnetYaml('outside-net', { cidrBlock: '10.253.0.0/24', namespaces: ['outside'] }) + namespaceYaml('outside');
      await cluster.apply(net + podYaml('outside', 'early'));
      assert.equal(await addressOf(cluster, 'outside', 'early'), '10.253.0.2');
      const pool = poolYaml('outside-pool', { subnet: 'outside-net', ips: ['10.253.0.100..10.253.0.101'], namespaces: ['outside'] });
      await cluster.apply(pool);
      const bound = await condition(cluster, 'pod', 'early', 'kiln.io/NetworkBound', 'True', 'outside');
      assert.equal(bound.reason, 'Misbound');
      assert.match(bound.message, /takes its addresses from IPPool outside-pool/);
      await cluster.apply(podYaml('outside', 'next'));
      assert.match(await addressOf(cluster, 'outside', 'next'), /^10\.253\.0\.10[01]$/);
      assert.equal(await addressOf(cluster, 'outside', 'early'), '10.253.0.2');
      await cluster.kubectl(['delete', 'pod', 'next', '-n', 'outside', '--wait=false']);
      await cluster.kubectl(['delete', 'ippool', 'outside-pool', '--timeout=120s']);
      await cluster.eventually('no pod is outside', async () => {
        const { reason } = await condition(cluster, 'pod', 'early', 'kiln.io/NetworkBound', 'True', 'outside');
        return reason === 'Bound';
      });
      await cluster.removeAll(net);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'outside'), []);
    },
  },
  {
    alone: true,
    name: 'an unused reserved address ends with its lease; one without a lease remains over a restart',
    run: async (cluster) => {
      const subnet = subnetYaml('leased-net', { cidrBlock: '10.68.0.0/24' });
      const ip = (name: string, lease: string): string => `---
apiVersion: kubeovn.io/v1
kind: IP
metadata:
  name: ${name}.leased
  labels: {ovn.kubernetes.io/ip_reserved: "true"}
  annotations: {${lease}}
spec: {podName: ${name}, namespace: leased, subnet: leased-net}
`;
      await cluster.apply(subnet + ip('kept', ''));
      await cluster.eventually('the kept one has an address', async () => {
        const { spec } = await cluster.get('ip', 'kept.leased');
        return typeof spec['v4IpAddress'] === 'string' && spec['v4IpAddress'] !== '';
      });
      const { controller } = cluster;
      for (let tries = 1; ; tries++) {
        assert.ok(tries <= 5, 'an Event reports it');
        const mark = (await controller.log()).length;
        await cluster.apply(ip('short', 'kiln.io/lease: 2s'));
        await untilDeleted(cluster, 'ip', 'short.leased');
        // A controller on a stalled machine may lose its Lease before it sends the Event. No other process knows what it deleted, so it is
        // tried again.
        const end = await cluster.eventually('an Event reports it', async () => {
          if ((await cluster.events('IP', 'short.leased')).some((event) => event.reason === 'LeaseEnded')) return 'reported';
          return (await controller.log()).slice(mark).some(({ msg }) => msg === 'no longer leading') && 'lost its Lease';
        });
        if (end === 'reported') break;
      }
      const before = await cluster.get('ip', 'kept.leased');
      await cluster.controller.kill9();
      await cluster.ensureController();
      await cluster.converged();
      assert.deepEqual((await cluster.get('ip', 'kept.leased')).spec, before.spec);
      await cluster.removeAll(ip('kept', '') + subnet);
    },
  },
];
