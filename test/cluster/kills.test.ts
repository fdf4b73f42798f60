/** Each program of a cluster is killed in turn under traffic: packets flow on, and pods start and end as before once it runs again. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_DAEMONS } from '../../lab/cluster/cluster-node.ts';
import type { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { startCluster } from './start-cluster.ts';
import { assertTranslatedByNodes, deployment, gone, namespaceOf, nothingLeft, podsOf, rolledOut } from './workloads.ts';

const programs = findNodePrograms();
const skip = typeof programs === 'string' && programs;
let cluster: KubernetesCluster;
let end = (): Promise<void> => Promise.resolve();

before(async () => {
  if (skip !== false) return;
  ({ cluster, end } = await startCluster());
  await cluster.apply(deployment('web', 4), deployment('probe', 0));
  await rolledOut(cluster, 'deployment/web');
  await rolledOut(cluster, 'deployment/coredns', 'kube-system');
});
after(() => end());

test('with kube-proxy in iptables: a Local NodePort and a hostPort, asked by other nodes; no endpoints is refused', { skip }, () =>
  assertTranslatedByNodes(cluster),
);

interface Victim {
  readonly name: string;
  readonly kill: () => Promise<void>;
  /** Resolves when it serves again. */
  readonly restart: () => Promise<void>;
  /** Carries packets: some are lost until it runs again. */
  readonly carries?: true;
}

const VICTIMS: readonly Victim[] = [
  ...(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const).map((name) => ({
    name,
    kill: () => cluster.control.kill(name),
    restart: () => cluster.control.restart(name),
  })),
  ...(['nb', 'sb', 'northd'] as const).map((name) => ({
    name: `OVN ${name}`,
    kill: () => cluster.ovn.kill(name),
    restart: () => cluster.ovn.restart(name),
  })),
  {
    name: 'the controller',
    kill: () => cluster.controller.kill('SIGKILL'),
    restart: () => {
      cluster.controller.start();
      return Promise.resolve();
    },
  },
  ...NODE_DAEMONS.map((name) => ({
    name,
    kill: () => cluster.node('node-2').kill(name),
    restart: () => cluster.node('node-2').start(name),
  })),
  ...(['ovsdb-server', 'ovn-controller', 'ovs-vswitchd'] as const).map((name) => ({
    name,
    kill: () => cluster.node('node-2').packets.vswitch.kill(name),
    restart: () => cluster.node('node-2').packets.vswitch.restart(name),
    carries: true as const,
  })),
];

/** An echo request each 100 ms from a pod on one node to one on the other. @returns how many were sent, and lost */
async function traffic(seconds: number): Promise<{ readonly sent: number; readonly lost: number }> {
  const pods = await podsOf(cluster, 'web');
  const [one, two] = ['node-1', 'node-2'].map((node) => pods.find((pod) => pod.node === node));
  assert.ok(one && two);
  const inside = ['nsenter', `--net=${await namespaceOf(cluster, one)}`, '--'] as const;
  const ping = ['ping', '-n', '-q', '-i', '0.1', '-w', String(seconds), two.addresses[0] ?? ''] as const;
  const printed = await cluster.node('node-1').machine.run('sh', '-c', '"$@" || :', 'ping', ...inside, ...ping);
  const [, sent = 0, received = 0] = /(\d+) packets transmitted, (\d+) received/.exec(printed)?.map(Number) ?? [];
  return { sent, lost: sent - received };
}

for (const { name, kill, restart, carries } of VICTIMS)
  test(`kill -9 of ${name} under traffic`, { skip }, async (context) => {
    const flowing = traffic(10);
    await sleep(2_000);
    await kill();
    await sleep(2_000);
    await restart();
    const { sent, lost } = await flowing;
    context.diagnostic(`${lost} of ${sent} packets were lost`);
    assert.ok(sent > 50, 'packets were sent');
    // The last one may be on its way.
    if (carries === undefined) assert.ok(lost <= 1, `${lost} of ${sent} packets were lost`);
    await cluster.kubectl('scale', 'deployment/probe', '--replicas=4');
    await rolledOut(cluster, 'deployment/probe');
    const afterwards = await traffic(2);
    assert.ok(afterwards.lost <= 1 && afterwards.sent > 5, `afterwards ${afterwards.lost} of ${afterwards.sent} packets were lost`);
    await cluster.kubectl('scale', 'deployment/probe', '--replicas=0');
    await gone(cluster, 'probe');
    await nothingLeft(cluster);
  });
