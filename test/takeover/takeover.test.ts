/** Kiln takes over what Kube-OVN left: no row is lost, each object is in effect, and each row has a row owner or is a leftover. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EXTERNAL_GATEWAY_CONFIG } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { traitsOf } from '../../src/world/resources.ts';
import type { PrintedLeft, TimedCondition } from './left-cluster.ts';
import { until } from '../../src/testing/until.ts';
import { StatusWrites } from './status-writes.ts';
import { clusterAsLeft, noOlderReleases, OLDER_RELEASES, TakenOver } from './left-cluster.ts';

if (noOlderReleases !== undefined) test('take-overs from older releases', { skip: noOlderReleases }, () => {});

for (const release of OLDER_RELEASES) {
  describe(`Kube-OVN ${release}`, () => {
    test('after the take-over all pods, Subnets and Vpcs work as before, and the plan is empty', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      const [rows, pods] = [await taken.rowsByUuid(), await taken.list('pods')];
      const [ports, balancers, localnets] = [await taken.routerPorts(), await taken.loadBalancers(), await taken.localnetPorts()];
      const [leases, routes] = [await dhcpOptions(cluster.ovn), await defaultRoutes(cluster.ovn)];
      const version = await layoutRelease(cluster.ovn);
      await taken.converged();
      // A guest renews its DHCP lease at the server that it knows. (1.12 separated DNS servers in a way that OVN does not parse.)
      for (const [uuid, options] of await dhcpOptions(cluster.ovn))
        for (const [key, value] of leases.get(uuid) ?? [])
          if (value !== '') assert.equal(options.get(key), value.replaceAll(';', ','), `${uuid} ${key}`);
      assert.deepEqual(await defaultRoutes(cluster.ovn), routes, 'traffic leaves as before');
      assert.deepEqual(await taken.loadBalancers(), balancers, 'also the one of an OvnDnatRule');
      assert.deepEqual(await taken.localnetPorts(), localnets);
      const after = await taken.rowsByUuid();
      assert.deepEqual(await taken.routerPorts(), ports, 'also those of peerings, which had no keys before 1.12');
      for (const [uuid, row] of rows) assert.ok(after.has(uuid), `row ${row} is gone`);
      for (const pod of await taken.list('pods')) {
        const before = pods.find(({ metadata }) => metadata.uid === pod.metadata.uid);
        for (const key of ['ip_address', 'mac_address', 'logical_switch', 'routed'])
          assert.equal(annotation(pod, key), annotation(before, key), `${pod.metadata.name}: ${key}`);
      }
      for (const resource of ['vpcs', 'subnets'] as const)
        for (const object of await taken.list(resource)) {
          assert.equal(taken.ready(object), 'True', `${resource} ${object.metadata.name}`);
          assert.doesNotMatch(JSON.stringify(object.status), /is read by no program/, 'of a key that Kube-OVN wrote');
        }
      assert.deepEqual(await taken.left(), []);
      // Without the key, Kube-OVN's own migration runs when it comes back, and adds what is still missing.
      const named = (await withoutVendor(cluster.ovn)) === 0 ? 'v1.17.0' : '';
      assert.equal(await layoutRelease(cluster.ovn), version === '' ? named : version);
    });

    test('the take-over reports no object as failed: the first status is the final one', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      const [first, before] = [await taken.plannedStatuses(), await taken.list('subnets')];
      assert.ok(first.length > 10);
      await taken.converged();
      for (const { resource, name, status } of first) {
        const [object] = (await taken.list(resource)).filter(({ metadata }) => metadata.name === name);
        assert.deepEqual(timeless(status), timeless(pick(object?.status, Object.keys(status))), `${resource} ${name}`);
      }
      for (const subnet of await taken.list('subnets')) {
        const [old] = before.filter(({ metadata }) => metadata.name === subnet.metadata.name);
        if (taken.ready(old ?? subnet) === 'True')
          assert.equal(since(subnet), since(old ?? subnet), `${subnet.metadata.name} was ready all the time`);
      }
    });

    test('kiln diff lists before the take-over what it leaves, and the take-over leaves that', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      const [before, rows] = [await taken.leftovers(), await taken.rowsByUuid()];
      assert.ok(before.rows.size > 0 && before.rows.size < rows.size / 2);
      assert.deepEqual(before.findings, [], 'all of it is in use by Kube-OVN');
      await taken.converged();
      const after = await taken.leftovers();
      const named = (uuids: ReadonlySet<string>): readonly string[] => Array.from(uuids, (uuid) => rows.get(uuid) ?? uuid).toSorted();
      assert.deepEqual(named(after.rows), named(before.rows));
      assert.notDeepEqual(after.findings, []);
    });

    // The variants differ in the keys of other rows.
    const isVariant = release.includes('made of');

    if (!isVariant)
      test('of two next hops without ecmpMode Kube-OVN has the last in OVN: it stays alone, and the Vpc names the other one', async () => {
        await using cluster = await clusterAsLeft(release);
        await using taken = new TakenOver(cluster);
        const route = (nextHopIP: string): object => ({ policy: 'policyDst', cidr: '192.168.50.0/24', nextHopIP });
        const before = (await cluster.ovn.nbctl('lr-route-list', 'v2')).match(/192\.168\.50\.0\/24 +(\S+)/)?.[1] ?? '';
        const other = `${before.slice(0, before.lastIndexOf('.'))}.77`;
        await cluster.client.mergePatch(traitsOf('vpcs'), { name: 'v2' }, { spec: { staticRoutes: [route(other), route(before)] } });
        const planned = (await taken.left()).filter((line) => line.startsWith('Logical_Router_Static_Route/v2||dst-ip|192.168.50.0/24'));
        assert.deepEqual(
          planned.filter((line) => line.includes(`|${other} `)),
          [],
        );
        const uuidOf = async (hop: string): Promise<string> =>
          (await cluster.ovn.nbctl('--bare', '--columns=_uuid', 'find', 'Logical_Router_Static_Route', `nexthop="${hop}"`)).trim();
        const uuid = await uuidOf(before);
        await taken.converged();
        assert.doesNotMatch(await cluster.ovn.nbctl('lr-route-list', 'v2'), /192\.168\.50\.0\/24 .*ecmp/);
        assert.deepEqual([await uuidOf(before), await uuidOf(other)], [uuid, '']);
        assert.deepEqual(await taken.left(), []);
        const { status } = await cluster.client.get<KubeObject & { readonly status?: object }>(traitsOf('vpcs'), { name: 'v2' });
        assert.ok(JSON.stringify(status).includes(other), 'the Vpc names the next hop that is left out');
      });

    if (!isVariant)
      test('ports of pods with SecurityGroups stay in the group that denies the rest, and no message asks to remove it', async () => {
        await using cluster = await clusterAsLeft(release);
        const { ovn } = cluster;
        const inGroup = async (): Promise<readonly string[]> =>
          (await ovn.nbctl('--bare', '--columns=ports', 'find', 'Port_Group', 'name=ovn.sg.kubeovn_deny_all')).split(/\s+/).toSorted();
        const members = await inGroup();
        const acls = await ovn.nbctl('acl-list', 'ovn.sg.kubeovn_deny_all');
        await using taken = new TakenOver(cluster);
        await taken.converged();
        assert.deepEqual(await inGroup(), members);
        assert.equal(await ovn.nbctl('acl-list', 'ovn.sg.kubeovn_deny_all'), acls);
        assert.match(acls, /drop/);
        const told = await taken.leftoversNamed('ovn.sg.kubeovn_deny_all');
        assert.equal(told.length, 1 + acls.trim().split('\n').length);
        if (members.some((member) => member !== ''))
          assert.deepEqual(
            told.filter(({ remove }) => remove !== undefined),
            [],
          );
      });

    test('no status of a valid network that a watch shows during the take-over is taken back', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      using writes = new StatusWrites();
      for (const resource of NETWORKS) await writes.follow(cluster.client, resource);
      const before = writes.states;
      await taken.converged();
      for (const resource of NETWORKS)
        for (const object of await taken.list(resource))
          await until(`the watch has shown ${resource} ${object.metadata.name}`, () => writes.has(resource, object));
      assert.equal(writes.failure, undefined);
      assert.ok(writes.states >= before + 15, `the take-over wrote ${writes.states - before} states of ${writes.objects} objects`);
      assert.deepEqual(writes.takenBack(), []);
      assert.deepEqual(
        writes.lost('Ready since', (value) => value.startsWith('True ')),
        [],
      );
      for (const field of ['router', 'standby', 'default', 'dhcpV4OptionsUUID', 'dhcpV6OptionsUUID', 'subnets'])
        assert.deepEqual(
          writes.lost(field, (value) => !['', '""', 'false', '[]'].includes(value)),
          [],
        );
    });

    test("rows of other programs beside Kube-OVN's stay bit by bit", async () => {
      await using cluster = await clusterAsLeft(release);
      const { ovn } = cluster;
      await ovn.nbctl('ls-add', 'neutron-1', '--', 'set', 'Logical_Switch', 'neutron-1', 'external_ids:neutron\\:network_name=web');
      await ovn.nbctl('lr-add', 'neutron-r', '--', 'set', 'Logical_Router', 'neutron-r', 'external_ids:neutron\\:router_name=gw');
      await ovn.nbctl('acl-add', 'neutron-1', 'to-lport', '1000', 'ip', 'drop');
      await ovn.nbctl(
        'lr-route-add',
        'neutron-r',
        '0.0.0.0/0',
        '172.24.4.1',
        '--',
        'lr-nat-add',
        'neutron-r',
        'snat',
        '172.24.4.9',
        '10.91.0.0/24',
      );
      await ovn.nbctl('lb-add', 'lb-of-another', '10.92.0.1:80', '10.92.0.2:80', '--', 'ls-lb-add', 'neutron-1', 'lb-of-another');
      await ovn.nbctl('pg-add', 'neutron_pg', '--', 'set', 'Port_Group', 'neutron_pg', 'external_ids:neutron\\:security_group_id=x');
      const learned = ['--id=@r', 'create', 'Logical_Router_Static_Route', 'ip_prefix=10.93.0.0/16', 'nexthop=169.254.9.9'];
      await ovn.nbctl(...learned, 'external_ids:ic-learned-route=0f8c63a4', '--', 'add', 'Logical_Router', 'v1', 'static_routes', '@r');
      const acl = ['--id=@a', 'create', 'ACL', 'direction=to-lport', 'priority=5', 'match=ip6', 'action=drop'];
      await ovn.nbctl(...acl, 'external_ids:neutron\\:rule=1', '--', 'add', 'Logical_Switch', 'd4', 'acls', '@a');
      await using taken = new TakenOver(cluster);
      const tables = ['Logical_Switch', 'Logical_Router', 'ACL', 'NAT', 'Load_Balancer', 'Port_Group', 'Logical_Router_Static_Route'];
      const strangers = async (): Promise<readonly string[]> =>
        (await Promise.all(tables.map(async (table) => (await ovn.nbctl('-f', 'json', 'list', table)).split('\n').join(''))))
          .flatMap((printed) =>
            (JSON.parse(printed) as { readonly data: readonly unknown[] }).data
              .map((row) => JSON.stringify(row))
              .filter((row) => STRANGERS.test(row)),
          )
          // ovn-nbctl lists rows in no stable order.
          .toSorted();
      const before = await strangers();
      assert.ok(before.length >= 8);
      await taken.converged();
      assert.deepEqual(await strangers(), before);
    });

    test('edits of a spec take effect on the rows that Kube-OVN made', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      await taken.converged();
      const { client, ovn } = cluster;
      assert.notEqual(await ovn.nbctl('acl-list', 'd4'), '');
      assert.notEqual(await ovn.nbctl('acl-list', 'dacl'), '');
      assert.match(await ovn.nbctl('lr-route-list', 'v2'), /192\.168\.50\.0\/24/);
      await client.mergePatch(traitsOf('subnets'), { name: 'd4' }, { spec: { private: false, allowSubnets: [] } });
      await client.mergePatch(traitsOf('subnets'), { name: 'dacl' }, { spec: { acls: [] } });
      await client.mergePatch(traitsOf('vpcs'), { name: 'v2' }, { spec: { staticRoutes: [] } });
      await client.mergePatch(traitsOf('vpcs'), { name: 'v1' }, { spec: { policyRoutes: [] } });
      await client.create(traitsOf('pods'), newPod('late') as never);
      await taken.converged();
      assert.equal(await ovn.nbctl('acl-list', 'd4'), '');
      assert.equal(await ovn.nbctl('acl-list', 'dacl'), '');
      assert.doesNotMatch(await ovn.nbctl('lr-route-list', 'v2'), /192\.168\.50\.0\/24/);
      assert.doesNotMatch(await ovn.nbctl('lr-policy-list', 'v1'), /^ +1[0-9] /m);
      const [late] = (await taken.list('pods')).filter(({ metadata }) => metadata.name === 'late');
      assert.equal(annotation(late, 'routed'), 'true');
    });

    test('second rows of a name, as two starts of Kube-OVN leave them, go or are listed, and no port is lost', async () => {
      await using cluster = await clusterAsLeft(release);
      const { ovn } = cluster;
      const made = async (table: string, ...columns: readonly string[]): Promise<string> =>
        (await ovn.nbctl('create', table, ...columns)).trim();
      const vendor = 'external_ids:vendor=kube-ovn';
      // Before 1.15 load balancers have no key. One without keys that no switch has is never deleted.
      const isKeyed = release.includes('to-v1.17');
      const balancer = await made('Load_Balancer', 'name=vpc-v2-tcp-load', ...(isKeyed ? [vendor] : []));
      const going = [
        await made('Logical_Switch', 'name=d4', vendor),
        await made('Logical_Router', 'name=v1', vendor),
        await made('DHCP_Options', 'cidr=10.50.0.0/24', vendor, 'external_ids:ls=s1', 'external_ids:protocol=IPv4'),
        ...(isKeyed ? [balancer] : []),
      ];
      const vip = 'vips:"10.96.3.3:80"="10.17.0.9:80"';
      const staying = [
        await made('Load_Balancer', 'name=cluster-tcp-loadbalancer', vip, ...(isKeyed ? [vendor] : [])),
        ...(isKeyed ? [] : [balancer]),
      ];
      const ports = async (): Promise<string> => await ovn.nbctl('--columns=_uuid,name,addresses', 'list', 'Logical_Switch_Port');
      const sorted = (text: string): readonly string[] => text.split('\n\n').toSorted();
      const before = sorted(await ports());
      await using taken = new TakenOver(cluster);
      const planned = (await taken.leftovers()).rows;
      assert.deepEqual(
        [...going, ...staying].filter((uuid) => planned.has(uuid)),
        staying,
      );
      await taken.converged();
      const tables = await taken.rowsWithoutOwner();
      assert.deepEqual(
        going.filter((uuid) => tables.has(uuid)),
        [],
      );
      const { rows, findings } = await taken.leftovers();
      assert.deepEqual(
        staying.filter((uuid) => tables.has(uuid) && rows.has(uuid)),
        staying,
      );
      assert.ok(
        findings.some(({ message, next }) => message.includes('beside others of the same name') && next.includes(staying[0] ?? '?')),
      );
      const after = new Set(sorted(await ports()));
      for (const port of before) assert.ok(after.has(port), `${port} is as before`);
    });

    test('rows of Vpcs that were deleted before the take-over are listed, with their load balancers', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      for (const [vpc, subnet] of [
        ['v2', 's2'],
        ['v3', 's3'],
      ] as const) {
        for (const pod of await taken.list('pods'))
          if (annotation(pod, 'logical_switch') === subnet)
            await cluster.client.delete(traitsOf('pods'), pod.metadata, { gracePeriodSeconds: 0 });
        for (const ip of await taken.list('ips')) if (inSubnet(ip) === subnet) await taken.removeByForce('ips', ip.metadata.name);
        await taken.removeByForce('subnets', subnet);
        await taken.removeByForce('vpcs', vpc);
      }
      // Kube-OVN deletes the router and the switch, and leaves the load balancers.
      await cluster.ovn.nbctl('lr-del', 'v2', '--', 'ls-del', 's2');
      await taken.converged();
      const { rows, findings } = await taken.leftovers();
      for (const [uuid, table] of await taken.rowsWithoutOwner()) assert.ok(rows.has(uuid), `${table} ${uuid} stays, and nothing says so`);
      assert.equal((await taken.leftoversNamed('vpc-v2-tcp-load')).length, 1);
      const [left] = await taken.leftoversNamed('vpc-v2-udp-sess-load');
      assert.match(left?.effect ?? '', /; in no switch or router$/);
      assert.ok(findings.some(({ message }) => message.includes('of objects that do not exist')));
      await cluster.ovn.nbctl(...(left?.remove ?? '').split(' ').slice(1));
      assert.deepEqual(await taken.leftoversNamed('vpc-v2-udp-sess-load'), []);
    });

    test('everything can be deleted, and kiln status lists what remains', async () => {
      await using cluster = await clusterAsLeft(release);
      await using taken = new TakenOver(cluster);
      await taken.converged();
      // The default Vpc stays, and with the ConfigMap or spec.enableExternal it keeps its port in the external Subnet.
      for (const { metadata } of await taken.list('configmaps'))
        if (metadata.name === EXTERNAL_GATEWAY_CONFIG) await cluster.client.delete(traitsOf('configmaps'), metadata);
      await cluster.client.mergePatch(traitsOf('vpcs'), { name: 'ovn-cluster' }, { spec: { enableExternal: false } });
      // In an order in which no object blocks a later one.
      const resources = [
        'statefulsets',
        'pods',
        'ovn-dnat-rules',
        'ovn-fips',
        'ovn-snat-rules',
        'ovn-eips',
        'vips',
        'ips',
        'ippools',
      ] as const;
      const others = ['switch-lb-rules', 'security-groups', 'networkpolicies', 'services'] as const;
      for (const resource of [...resources, ...others])
        await taken.deleteAll(resource, ['kubernetes', 'node-node1', 'node-node2', 'node-node3']);
      await taken.deleteAll('subnets', BUILT_IN);
      await taken.deleteAll('vpcs', BUILT_IN);
      await taken.deleteAll('nodes');
      await taken.gone('subnets', BUILT_IN);
      await taken.gone('vpcs', BUILT_IN);
      await taken.gone('nodes');
      await taken.converged();
      const { rows, findings } = await taken.leftovers();
      for (const [uuid, table] of await taken.rowsWithoutOwner()) assert.ok(rows.has(uuid), `${table} ${uuid} stays, and nothing says so`);
      assert.ok(rows.size <= MOST_LEFT, `${rows.size} rows stay: ${findings.map(({ message }) => message).join('\n')}`);
    });
  });
}

/** The group of all denied ports, which belongs to no object, with its ACLs, and two sets of the default Vpc, which is not deleted. */
const MOST_LEFT = 7;
const NETWORKS = ['vpcs', 'subnets'] as const;
const BUILT_IN = ['ovn-cluster', 'ovn-default', 'join'];

type Ovn = Awaited<ReturnType<typeof clusterAsLeft>>['ovn'];

/** Rows by UUID. */
async function dhcpOptions(ovn: Ovn): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const printed = await ovn.nbctl('--format=json', '--columns=_uuid,options', 'list', 'DHCP_Options');
  const { data } = JSON.parse(printed) as {
    readonly data: readonly (readonly [readonly ['uuid', string], readonly ['map', readonly (readonly [string, string])[]]])[];
  };
  return new Map(data.map(([[, uuid], [, options]]) => [uuid, new Map(options)]));
}

/** Key `kube-ovn-version` of NB_Global; empty if it has none. */
async function layoutRelease(ovn: Ovn): Promise<string> {
  return (await ovn.nbctl('--if-exists', 'get', 'NB_Global', '.', 'external_ids:kube-ovn-version')).trim().replaceAll('"', '');
}

/** Rows of the tables that Kube-OVN's migration looks through, without the vendor key. No other program has rows in these databases. */
async function withoutVendor(ovn: Ovn): Promise<number> {
  const tables = ['Logical_Router_Port', 'Port_Group', 'Address_Set', 'Load_Balancer', 'ACL'];
  const listed = await Promise.all(
    tables.map((table) => ovn.nbctl('--format=csv', '--no-headings', '--columns=external_ids', 'list', table)),
  );
  return listed.flatMap((text) => text.split('\n').filter((line) => line !== '' && !line.includes('vendor=kube-ovn'))).length;
}

async function defaultRoutes(ovn: Ovn): Promise<readonly string[]> {
  const listed = await Promise.all(['ovn-cluster', 'v1'].map((router) => ovn.nbctl('lr-route-list', router)));
  return listed.flatMap((text) => text.split('\n').filter((line) => line.includes(' 0.0.0.0/0 '))).toSorted();
}

function inSubnet({ spec }: PrintedLeft): unknown {
  return spec?.subnet;
}

function since({ status }: PrintedLeft): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
}

function pick(status: object | undefined, fields: readonly string[]): object {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([field]) => fields.includes(field)));
}

/** Conditions without their times. */
function timeless(status: object): object {
  const times = (key: string, value: unknown): unknown =>
    key === 'lastUpdateTime' || key === 'lastTransitionTime' ? undefined : typeof value === 'bigint' ? Number(value) : value;
  const { conditions = [], ...fields } = JSON.parse(JSON.stringify(status, times)) as { readonly conditions?: readonly TimedCondition[] };
  return { ...fields, conditions: conditions.filter(({ type }) => type === 'Ready' || type === 'Accepted') };
}

const STRANGERS = /neutron|lb-of-another|0f8c63a4|172\.24\.4\.|10\.91\.0\.0/;

function annotation(object: { readonly metadata: { readonly annotations?: unknown } } | undefined, key: string): string | undefined {
  return ((object?.metadata.annotations ?? {}) as Readonly<Record<string, string>>)[`ovn.kubernetes.io/${key}`];
}

function newPod(name: string): object {
  return {
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'node2', containers: [{ name: 'c', image: 'x' }] },
  };
}
