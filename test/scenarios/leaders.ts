/** More than one controller, Kiln's or Kube-OVN's: one writes, and which one it is can be seen. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTROLLER_LEASE } from '../../src/api/well-known.ts';
import type { ControllerProcess, LogLine } from '../../src/testing/controller-process.ts';
import { LEASE_SECONDS } from '../../src/testing/controller-process.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { addressOf, condition, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import { rowsNamed } from './northbound.ts';
import type { Scenario } from './scenario.ts';

const network = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

const lease = (holder: string): string => `---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: kube-ovn-controller, namespace: kube-system}
spec:
  holderIdentity: "${holder}"
  leaseDurationSeconds: 3600
  acquireTime: "${new Date().toISOString().replace('Z', '000Z')}"
  renewTime: "${new Date().toISOString().replace('Z', '000Z')}"
`;

interface HeldLease {
  readonly holderIdentity: string;
  readonly acquireTime: string;
  readonly renewTime: string;
}

const leaseOf = async (cluster: ScenarioCluster): Promise<HeldLease> =>
  (await cluster.get('lease', CONTROLLER_LEASE, 'kube-system')).spec as unknown as HeldLease;

async function leads(controller: ControllerProcess): Promise<boolean> {
  return (await controller.log()).findLast(({ msg }) => msg === 'writing' || msg === 'no longer leading')?.msg === 'writing';
}

export const leaders: readonly Scenario[] = [
  {
    name: 'kill -9 of the leader: the standby takes over within the time of the Lease, and continues',
    alone: true,
    run: async (cluster) => {
      const first = await cluster.ensureController();
      await first.untilLogged('writing');
      const since = (await first.log()).length;
      const second = cluster.startController();
      await sleep(2_000);
      // A controller on a stalled machine loses its Lease: then the second one leads, and the first one stands by.
      await cluster.eventually('the second one waits while the first one leads', async () => {
        if (!(await second.log()).some(({ msg }) => msg === 'writing')) return true;
        return (await first.log()).slice(since).some(({ msg }) => msg === 'no longer leading');
      });
      await cluster.apply(network('failover', '10.103.0.0/24') + podYaml('failover', 'a'));
      await running(cluster, 'failover', 'a');
      const [leader, standby] = await cluster.eventually('one of them leads', async () =>
        (await leads(first)) ? ([first, second] as const) : (await leads(second)) && ([second, first] as const),
      );
      const from = (await standby.log()).length;
      await leader.kill9();
      const left = await leaseOf(cluster);
      await cluster.apply(podYaml('failover', 'b'));
      await running(cluster, 'failover', 'b');
      await standby.untilLogged('writing', { from });
      const taken = await leaseOf(cluster);
      const free = Date.parse(left.renewTime) + LEASE_SECONDS.duration * 1_000;
      const waited = Date.parse(taken.acquireTime) - free;
      assert.notEqual(taken.holderIdentity, left.holderIdentity);
      assert.ok(waited >= 0, `it was taken ${-waited} ms before it ended`);
      // A slow machine adds to the delay. The bound excludes waiting for the duration of another Lease, 15 s and more.
      assert.ok(waited < 12_000, `it was free for ${waited} ms`);
      await cluster.removeAll(network('failover', ''));
    },
  },
  {
    name: 'C85 a leader stopped past its Lease and continued writes nothing: its transactions fail at the fence',
    alone: true,
    run: async (cluster) => {
      const deposed = await cluster.ensureController();
      await deposed.untilLogged('writing');
      await cluster.apply(network('fenced', '10.104.0.0/24') + podYaml('fenced', 'a'));
      await running(cluster, 'fenced', 'a');
      // Without this, the reply to a transaction that is in flight when the process is stopped would be read when it is resumed.
      await cluster.converged();
      await deposed.pause();
      const heir = cluster.startController();
      await heir.untilLogged('writing');
      await cluster.apply(podYaml('fenced', 'b'));
      await running(cluster, 'fenced', 'b');
      await cluster.converged();
      const mark = (await deposed.log()).length;
      const records = (await cluster.northboundLog()).length;
      const ended = Number((await deposed.log()).findLast(({ msg }) => msg === 'writing')?.['term']);
      assert.ok(ended > 0);
      await deposed.resume();
      await cluster.apply(podYaml('fenced', 'c'));
      await running(cluster, 'fenced', 'c');
      await deposed.untilLogged('no longer leading', { from: mark });
      await sleep(1_000);
      const lines = (await deposed.log()).slice(mark);
      // On a stalled machine the new leader may lose the Lease in its turn.
      const again = lines.findIndex(({ msg }) => msg === 'writing');
      const woken = again === -1 ? lines : lines.slice(0, again);
      assert.equal(
        woken.some(({ msg }) => msg === 'transaction'),
        false,
        'the one that was stopped has written nothing since',
      );
      const terms = (await cluster.northboundLog())
        .slice(records)
        .flatMap(({ comment }) => Number(/^kiln: term (\d+)/.exec(comment)?.[1] ?? 'NaN'))
        .filter((each) => !Number.isNaN(each));
      // A controller on a stalled machine loses its Lease, and takes the next term.
      assert.ok(terms.length > 0 && terms.every((term) => term > ended), `later terms than ${ended} write: ${terms.join()}`);
      await cluster.converged();
      await cluster.removeAll(network('fenced', ''));
    },
  },
  {
    name: 'a newer term without a leader, written by hand or by a process that lost its Lease, stops the leader only until the API server has answered',
    alone: true,
    run: async (cluster) => {
      const controller = await cluster.ensureController();
      await controller.untilLogged('writing');
      await cluster.apply(network('contested', '10.105.0.0/24') + podYaml('contested', 'a'));
      await running(cluster, 'contested', 'a');
      let lines: readonly LogLine[] = [];
      for (let term = 1_000; term <= 5_000; term += 1_000) {
        const mark = (await controller.log()).length;
        await cluster.ovn.nbctl('set', 'NB_Global', '.', `external_ids:kiln.io/term=${term}`);
        await cluster.apply(podYaml('contested', `b-${term}`));
        await running(cluster, 'contested', `b-${term}`);
        lines = (await controller.log()).slice(mark);
        // A controller on a stalled machine may lose its Lease just now, and takes the next term with the next Lease: then it is tried
        // again.
        if (!lines.some(({ msg, reason }) => msg === 'no longer leading' && reason === 'expired')) break;
      }
      const messages = lines.map(({ msg }) => msg);
      const confirmed = messages.indexOf('the API server confirms that this process holds the Lease: it takes the next term');
      assert.ok(confirmed > messages.findIndex((msg) => msg.startsWith('deposed:')), messages.join('; '));
      assert.deepEqual(
        messages.filter((msg) => msg.startsWith('this process still holds the Lease') || msg === 'no longer leading'),
        [],
      );
      assert.ok(Number((await controller.log()).findLast(({ msg }) => msg === 'writing')?.['term']) > 1_000);
      await cluster.converged();
      await cluster.removeAll(network('contested', ''));
    },
  },
  {
    name: "while Kube-OVN's controller has its Lease Kiln writes nothing and logs it; Kiln continues when the Lease is free",
    alone: true,
    run: async (cluster) => {
      await cluster.ensureController();
      const controller = cluster.controller;
      await controller.untilLogged('writing');
      const mark = (await controller.log()).length;
      await cluster.apply(lease('kube-ovn-controller-7d9f'));
      const line = await controller.untilLogged("Kube-OVN's controller is active; Kiln observes and does not write", { from: mark });
      assert.equal(line['holder'], 'kube-ovn-controller-7d9f');
      const before = (await cluster.northboundLog()).length;
      const all = network('yielding', '10.105.0.0/24');
      await cluster.applyAtOnce(all + podYaml('yielding', 'pod'));
      await sleep(2_000);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Router', 'yielding'), []);
      assert.equal(
        (await cluster.northboundLog()).slice(before).some(({ comment }) => comment.startsWith('kiln:')),
        false,
      );
      const vpc = await cluster.get('vpc', 'yielding');
      assert.deepEqual([vpc.metadata.finalizers, vpc.status], [undefined, undefined]);
      assert.equal((await cluster.get('pod', 'pod', 'yielding')).metadata.annotations?.['ovn.kubernetes.io/allocated'], undefined);
      // A controller that starts while Kube-OVN's Lease is held waits as well.
      await controller.kill9();
      const next = cluster.startController();
      await next.untilLogged("Kube-OVN's controller is active; Kiln observes and does not write");
      await sleep(1_000);
      assert.equal((await cluster.get('vpc', 'yielding')).status, undefined);
      await cluster.delete('lease', 'kube-ovn-controller', 'kube-system');
      assert.equal(await addressOf(cluster, 'yielding', 'pod'), '10.105.0.2');
      await condition(cluster, 'subnet', 'yielding-net', 'Ready', 'True');
      await cluster.removeAll(all);
    },
  },
];
