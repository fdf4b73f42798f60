/**
 * From Kube-OVN to Kiln and back, with the commands of docs/migrate.md: no row gets another UUID, no pod another address, and the objects
 * have the finalizers that the release of Kube-OVN expects. Its controller does not run here: the test holds its Lease.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runHere } from '../../src/cli/testing/command-here.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { until } from '../../src/testing/until.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../src/world/resources.ts';
import { allRows, freeLease, HOLDER, holdLease, putKubeOvn } from './kube-ovn-leads.ts';
import { clusterAsLeft, leftObjects, noOlderReleases, OLDER_RELEASES, TakenOver } from './left-cluster.ts';

if (noOlderReleases !== undefined) test('from Kube-OVN and back', { skip: noOlderReleases }, () => {});

type Cluster = Awaited<ReturnType<typeof clusterAsLeft>>;

interface MigrationPlan {
  readonly versions: { readonly kubeOvn: { readonly version: string; readonly leader: string | null } };
  readonly settings: readonly string[];
  readonly stops: readonly { readonly what: string; readonly kind: string; readonly name: string; readonly keptRows: number }[];
}

// The oldest release differs most: its finalizer had another name.
for (const release of OLDER_RELEASES.filter((one) => !one.includes('made of')).slice(0, LONG_RUN ? undefined : 1)) {
  test(`Kube-OVN ${release}: there and back`, async () => {
    await using cluster = await clusterAsLeft(release);
    const { client, kubeconfig, ovn } = cluster;
    const kiln = async (
      ...args: readonly string[]
    ): Promise<{ readonly exit: number | null; readonly out: string; readonly err: string }> =>
      await runHere([...args, `--kubeconfig=${kubeconfig}`], { KILN_OVN_NB: ovn.unix });
    const version = /v(\d+\.\d+\.\d+)$/.exec(release)?.[1] ?? '';
    await putKubeOvn(client, version, ['--default-cidr=10.16.0.0/16', '--enable-anp=true', '--bfd-min-tx=200', '--gc-interval=0']);
    await holdLease(client);

    const planned = await kiln('migrate', 'plan', '-o', 'json');
    assert.equal(planned.exit, 1, planned.err);
    const plan = JSON.parse(planned.out) as MigrationPlan;
    assert.deepEqual(plan.versions.kubeOvn.version, version);
    assert.equal(plan.versions.kubeOvn.leader, HOLDER);
    assert.deepEqual(plan.settings, ['--bfd-min-tx=200']);
    const stops = plan.stops.map(({ what, kind, name }) => `${what} ${kind} ${name}`);
    for (const one of [
      'kind NetworkPolicy default/np1',
      'kind SecurityGroup sg1',
      'kind SwitchLBRule slr1',
      'field Pod default/p-sec',
      'flag flag --enable-anp=true',
    ])
      assert.ok(stops.includes(one), `${one} among ${stops.join(', ')}`);
    assert.ok(plan.stops.some(({ kind, keptRows }) => kind === 'NetworkPolicy' && keptRows > 0));

    const [rows, addresses, finalizers] = [await allRows(ovn), await podAddresses(cluster), finalizersIn(release)];
    // Kube-OVN's controller leads: Kiln only looks.
    {
      const looking = cluster.controller();
      looking.start();
      await until('Kiln has seen who leads', () => looking.status.phase === 'kube-ovn-active');
      await looking.stop();
    }
    assert.deepEqual(await allRows(ovn), rows, 'nothing was written while the Lease was held');

    await freeLease(client);
    {
      await using taken = new TakenOver(cluster);
      await taken.converged();
    }
    const after = await allRows(ovn);
    for (const [uuid, row] of rows) assert.ok(after.has(uuid), `${row} has another UUID, or is gone`);
    assert.deepEqual(await podAddresses(cluster), addresses);

    const dry = await kiln('migrate', 'back', '--dry-run=client');
    assert.equal(dry.exit, 0, dry.err);
    assert.match(dry.out, /^finalizer removed .*Vlan 2/m);
    const back = await kiln('migrate', 'back', '--yes');
    assert.equal(back.exit, 0, back.err);
    for (const [key, held] of await heldFinalizers(cluster)) {
      const before = finalizers.get(key);
      // An object that had none may have one that the release knows: its controller takes it off.
      if (before !== undefined && before.length > 0) assert.deepEqual(held, before, key);
      else
        assert.ok(
          held.every((one) => knownTo(version, key, one)),
          `${key}: ${held.join(', ')}`,
        );
    }
    await holdLease(client);
    assert.deepEqual(await allRows(ovn), after);
    const once = await kiln('migrate', 'back', '--yes', '--dry-run=client');
    assert.match(once.out, /^finalizer renamed +none\nfinalizer removed +none\n/);
  });
}

async function podAddresses({ client }: Cluster): Promise<readonly string[]> {
  const pods = await client.listAll<KubeObject>(traitsOf('pods'));
  return pods.map(({ metadata: { namespace = '', name, annotations } }) =>
    [`${namespace}/${name}`, ...['ip_address', 'mac_address', 'routed'].map((key) => annotations?.[`ovn.kubernetes.io/${key}`] ?? '')].join(
      ' ',
    ),
  );
}

/** By `plural/key`, of the kinds of kubeovn.io. */
function finalizersIn(release: string): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(leftObjects(release)).map(([key, { metadata }]) => [key, metadata.finalizers ?? []]));
}

const OWN_KINDS: readonly ResourceName[] = RESOURCE_NAMES.filter((resource) => traitsOf(resource).group === 'kubeovn.io');

async function heldFinalizers({ client }: Cluster): Promise<ReadonlyMap<string, readonly string[]>> {
  const listed = await Promise.all(
    OWN_KINDS.map(async (resource) =>
      (await client.listAll<KubeObject>(traitsOf(resource))).map(
        ({ metadata: { name, namespace, finalizers } }) =>
          [`${resource}/${namespace === undefined ? '' : `${namespace}/`}${name}`, finalizers ?? []] as const,
      ),
    ),
  );
  return new Map(listed.flat());
}

/** Since which minor release Kube-OVN gives a kind a finalizer, where it did not always; others it gives none. */
const SINCE: Readonly<Record<string, number>> = { vpcs: 13, vips: 15, ippools: 15 };
const WITHOUT = ['vlans', 'provider-networks', 'security-groups', 'switch-lb-rules'];

function knownTo(version: string, key: string, finalizer: string): boolean {
  const [minor, kind = ''] = [Number(version.split('.')[1]), key.split('/')[0]];
  if (WITHOUT.includes(kind) || minor < (SINCE[kind] ?? 0)) return false;
  return finalizer === (minor < 13 ? 'kube-ovn-controller' : 'kubeovn.io/kube-ovn-controller');
}
