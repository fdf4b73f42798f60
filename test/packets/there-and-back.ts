/** To Kube-OVN and back to Kiln under traffic, with the commands of docs/migrate.md, on the nodes of the file that calls it. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import { FINALIZER, LEGACY_FINALIZERS } from '../../src/api/well-known.ts';
import { type Ended, runHere } from '../../src/cli/testing/command-here.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { RESOURCE_NAMES, traitsOf } from '../../src/world/resources.ts';
import { allRows, freeLease, holdLease, putKubeOvn } from '../takeover/kube-ovn-leads.ts';
import { HeldConnection } from './held-connection.ts';
import { lostWhile } from './lost-packets.ts';
import type { PacketCluster, RunningPod } from './packet-cluster.ts';

/** It differs most: its finalizer had another name. */
const RELEASE = '1.12.35';

export interface Traffic {
  /** For a person. */
  readonly what: string;
  readonly from: RunningPod;
  /** Where `address` is. */
  readonly to: NetworkNamespace;
  readonly address: string;
}

/** Kube-OVN takes the cluster over, and Kiln does: no row changes, connections live, and no echo request is lost. */
export async function thereAndBack(t: TestContext, cluster: PacketCluster, traffic: readonly Traffic[]): Promise<void> {
  await until('the controller has nothing to do', async () => (await kiln(cluster, 'diff')).exit === 0);
  const before = await allRows(cluster.ovn);
  const held = await Promise.all(
    traffic.map(async ({ from, to, address }) => {
      const connection = await HeldConnection.open(from.sandbox.namespace, to, address);
      t.after(() => connection.kill());
      return connection;
    }),
  );
  // Each around the next one: all go on for as long as the innermost takes.
  const lost: string[] = [];
  const migrated = traffic.reduce<() => Promise<void>>(
    (meanwhile, { what, from, address }) =>
      async () => {
        const count = await lostWhile(from, address, meanwhile);
        if (count > 0) lost.push(`${what}: ${count}`);
      },
    () => giveBackAndTakeOver(cluster),
  );
  const since = performance.now();
  await migrated();
  t.diagnostic(`there and back in ${Math.round(performance.now() - since)} ms`);
  for (const [at, connection] of held.entries()) {
    const { sent, answered, longestMs, ended } = await connection.end();
    const what = traffic[at]?.what ?? '';
    t.diagnostic(`${what}: ${answered} of ${sent} answers, longest time without one ${Math.round(longestMs)} ms`);
    assert.equal(ended, null, `the connection ${what} ended`);
    assert.ok(answered > 50 && sent - answered < 50, `${what}: ${answered} of ${sent}`);
  }
  assert.deepEqual(lost, []);
  const after = await allRows(cluster.ovn);
  for (const [uuid, row] of before) assert.equal(compared(after.get(uuid) ?? 'no row of this UUID'), compared(row), uuid);
}

/** In NB_Global Kiln keeps which values are its own: after a take-over they are Kube-OVN's. */
function compared(row: string): string {
  return row.startsWith('NB_Global ') ? row.replaceAll(/\["kiln\.io\/[^"]+","[^"]*"\],?/g, '') : row;
}

async function giveBackAndTakeOver(cluster: PacketCluster): Promise<void> {
  const { client, controller, ovn } = cluster;
  await putKubeOvn(client, RELEASE, []);
  await controller.stop();
  const rows = await allRows(ovn);
  const dry = await kiln(cluster, 'migrate', 'back', '--dry-run=client');
  assert.equal(dry.exit, 0, dry.err);
  assert.match(dry.out, /^finalizer removed .*Vlan 1/m);
  const back = await kiln(cluster, 'migrate', 'back', '--yes');
  assert.equal(back.exit, 0, back.err);
  assert.deepEqual(await allRows(ovn), rows);
  await forgetKiln(cluster);
  const ofKubeOvn = await allRows(ovn);
  assert.doesNotMatch([...ofKubeOvn.values()].join('\n'), /kiln/);

  await holdLease(client);
  const from = (await controller.log()).length;
  controller.start();
  await controller.untilLogged("Kube-OVN's controller is active; Kiln observes and does not write", { from });
  const plan = await kiln(cluster, 'migrate', 'plan', '-o', 'json');
  assert.deepEqual((JSON.parse(plan.out) as { readonly stops: readonly unknown[] }).stops, [], plan.err);
  assert.deepEqual(await allRows(ovn), ofKubeOvn, 'nothing was written while the Lease was held');
  await freeLease(client);
  let last = '';
  await until(
    'all is taken over',
    async () => {
      const { exit, out, err } = await kiln(cluster, 'diff', '--details');
      last = `${out}${err}`;
      return exit === 0;
    },
    undefined,
    () => last,
  );
}

/** Rows and objects as Kube-OVN's controller writes them: without the keys of Kiln, which it had never seen. */
async function forgetKiln({ client, ovn }: PacketCluster): Promise<void> {
  const removals = [...(await allRows(ovn))].flatMap(([uuid, row]) => {
    const [table = ''] = row.split(' ', 1);
    const keys = [...(/external_ids=(\S+)/.exec(row)?.[1] ?? '').matchAll(/\["(kiln\.io\/[^"]+)",/g)].map(([, key = '']) => key);
    return keys.length === 0 ? [] : ['--', 'remove', table, uuid, 'external_ids', ...keys];
  });
  assert.ok(removals.length > 100, `Kiln had keys in hardly any row: ${removals.join(' ')}`);
  await ovn.nbctl(...removals.slice(1));
  for (const traits of RESOURCE_NAMES.map(traitsOf).filter(({ group }) => group === 'kubeovn.io'))
    for (const { metadata } of await client.listAll<KubeObject>(traits)) {
      const { name, namespace } = metadata;
      const [annotations, finalizers] = [metadata.annotations ?? {}, metadata.finalizers ?? []];
      assert.ok(!finalizers.includes(FINALIZER) && finalizers.every((one) => LEGACY_FINALIZERS.includes(one)), finalizers.join());
      const own = Object.keys(annotations).filter((key) => key.startsWith('kiln.io/'));
      if (own.length > 0)
        await client.mergePatch(
          traits,
          { name, namespace },
          { metadata: { annotations: Object.fromEntries(own.map((key) => [key, null])) } },
        );
    }
}

async function kiln({ kubeconfig, ovn }: PacketCluster, ...args: readonly string[]): Promise<Ended> {
  return await runHere([...args, `--kubeconfig=${kubeconfig}`], { KILN_OVN_NB: ovn.nbEndpoint });
}
