/** Histories from the field (docs/evidence/field-histories.md): rows of OVN that other programs change, duplicate or delete. */
import assert from 'node:assert/strict';
import { children, port, rowNamed, rowsNamed, routesOf, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, podYaml, setPodStatus, running, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export const fieldRows: readonly Scenario[] = [
  {
    name: "H26 another program's route of the same prefix is in a Vpc's router: the Vpc reports it beside its own route until it is gone; Kiln never changes it",
    run: async (cluster) => {
      const all = tenantYaml('h26', '10.232.0.0/28');
      await cluster.apply(all);
      await cluster.patch('vpc', 'h26', {
        spec: { staticRoutes: [{ cidr: '10.9.0.0/16', nextHopIP: '10.232.0.9', policy: 'policyDst' }] },
      });
      await cluster.converged();
      await cluster.ovn.nbctl('--ecmp', 'lr-route-add', 'h26', '10.9.0.0/16', '10.232.0.10');
      const { reason, message } = await condition(cluster, 'vpc', 'h26', 'WithoutEffect', 'True');
      assert.equal(reason, 'RouteShared');
      assert.match(message, /spec\.staticRoutes\[0\] "10\.9\.0\.0\/16" goes by way of 10\.232\.0\.9, and by way of 10\.232\.0\.10 as well/);
      await cluster.eventually('an Event reports it', async () =>
        (await cluster.events('Vpc', 'h26')).some((event) => event.reason === 'RouteShared'),
      );
      await cluster.converged();
      assert.equal(routesOf(await cluster.dump(), 'h26').filter((route) => route.includes('10.9.0.0/16')).length, 2);
      await cluster.ovn.nbctl('lr-route-del', 'h26', '10.9.0.0/16', '10.232.0.10');
      await cluster.eventually('it is at rest', async () =>
        (await cluster.get('vpc', 'h26')).status?.conditions?.every(({ type }) => type !== 'WithoutEffect'),
      );
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h26'), []);
    },
  },
  {
    name: 'H27 a user makes the port between switch and router a plain one and changes its peer: Kiln repairs the link, in the same rows',
    run: async (cluster) => {
      const all = tenantYaml('h27', '10.233.0.0/28');
      await cluster.apply(all + podYaml('h27', 'web'));
      await running(cluster, 'h27', 'web');
      await cluster.converged();
      const facts = async (): Promise<readonly unknown[]> => {
        const dump = await cluster.dump();
        const link = port(dump, 'h27-net-h27');
        const peer = rowNamed(dump, 'Logical_Router_Port', 'h27-h27-net');
        return [link['_uuid'], link['type'], link['options'], link['addresses'], peer['_uuid'], peer['mac'], peer['networks']];
      };
      const before = await facts();
      await cluster.ovn.nbctl(
        ...['set', 'Logical_Switch_Port', 'h27-net-h27', 'type=""', 'options={}', 'addresses=unknown'],
        ...['--', 'set', 'Logical_Router_Port', 'h27-h27-net', 'mac="00:00:00:00:00:99"', 'networks="10.99.0.1/24"'],
      );
      await cluster.eventually('the link is as it was', async () => {
        assert.deepEqual(await facts(), before);
        return true;
      });
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h27'), []);
    },
  },
  {
    name: 'H28 a user destroys the switch and the router of a tenant with all their rows, twice: all rows are created again, and pods have the same addresses and MACs',
    run: async (cluster) => {
      const all = tenantYaml('h28', '10.234.0.0/28');
      await cluster.apply(all + podYaml('h28', 'a') + podYaml('h28', 'b'));
      await running(cluster, 'h28', 'a');
      await running(cluster, 'h28', 'b');
      await cluster.converged();
      const facts = async (): Promise<readonly unknown[]> => {
        const dump = await cluster.dump();
        const router = rowNamed(dump, 'Logical_Router', 'h28');
        return [
          ...['a.h28', 'b.h28'].map((name) => port(dump, name)['addresses']),
          routesOf(dump, 'h28'),
          children(dump, router, 'ports', 'Logical_Router_Port').map(({ name, mac }) => [name, mac]),
          children(dump, router, 'policies', 'Logical_Router_Policy').length,
        ];
      };
      const before = await facts();
      for (const victims of [
        ['--if-exists', 'ls-del', 'h28-net', '--', '--if-exists', 'lr-del', 'h28'],
        ['--if-exists', 'lr-del', 'h28', '--', '--if-exists', 'ls-del', 'h28-net'],
      ]) {
        await cluster.ovn.nbctl(...victims);
        await cluster.converged();
        assert.deepEqual(await facts(), before);
      }
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h28'), []);
    },
  },
  {
    name: 'H29 a user copies a port with its ownership keys under another name: the copy goes, the port and its pod stay',
    run: async (cluster) => {
      const all = tenantYaml('h29', '10.235.0.0/28');
      await cluster.apply(all + podYaml('h29', 'web'));
      const address = await addressOf(cluster, 'h29', 'web');
      await cluster.converged();
      const { external_ids: ids, _uuid: uuid } = port(await cluster.dump(), 'web.h29');
      const marks = Object.entries(ids as Readonly<Record<string, string>>).map(
        ([key, value]) => `external_ids:${key.replaceAll(':', '\\:')}="${value}"`,
      );
      await cluster.ovn.nbctl(
        ...['--id=@p', 'create', 'Logical_Switch_Port', 'name=web2.h29', `addresses="0a:00:00:00:00:29 ${address}"`, ...marks],
        ...['--', 'add', 'Logical_Switch', 'h29-net', 'ports', '@p'],
      );
      await cluster.eventually(
        'the copy is gone',
        async () => rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'web2.h29').length === 0,
      );
      await cluster.converged();
      assert.equal(port(await cluster.dump(), 'web.h29')['_uuid'], uuid);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H30, H31 while no controller runs a pod is created again with another address, and the node of a completed pod goes: the next controller makes all rows follow the objects',
    alone: true,
    run: async (cluster) => {
      const all = tenantYaml('h30', '10.236.0.0/28');
      const node = '---\napiVersion: v1\nkind: Node\nmetadata: {name: h31-node}\n';
      const requests = (address: string): { readonly annotations: Readonly<Record<string, string>> } => ({
        annotations: { 'ovn.kubernetes.io/ip_address': address },
      });
      await cluster.apply(all + node + podYaml('h30', 'web', requests('10.236.0.4')));
      await cluster.apply(podYaml('h30', 'done', { restartPolicy: 'Never' }).replace('spec:\n', 'spec:\n  nodeName: h31-node\n'));
      await running(cluster, 'h30', 'web');
      await cluster.eventually(
        'it has a port',
        async () => rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'done.h30').length === 1,
      );
      await cluster.controller.kill9();
      await cluster.kubectl(['delete', 'pod', 'web', '-n', 'h30', '--timeout=120s']);
      await setPodStatus(cluster, 'h30', 'done', { phase: 'Succeeded' });
      await cluster.kubectl(['delete', 'node', 'h31-node']);
      await cluster.apply(podYaml('h30', 'web', requests('10.236.0.5')) + podYaml('h30', 'heir', requests('10.236.0.4')));
      cluster.startController();
      assert.equal(await addressOf(cluster, 'h30', 'web'), '10.236.0.5');
      assert.equal(await addressOf(cluster, 'h30', 'heir'), '10.236.0.4');
      await untilDeleted(cluster, 'ip', 'done.h30');
      await untilDeleted(cluster, 'ip', 'node-h31-node');
      await cluster.converged();
      const dump = await cluster.dump();
      assert.match(String(port(dump, 'web.h30')['addresses']), / 10\.236\.0\.5$/);
      assert.deepEqual(traces(dump, 'done.h30', 'h31-node'), []);
      // A real control plane deletes the pods of a deleted node by itself, some forty seconds later.
      await cluster.kubectl(['delete', 'pod', 'done', '-n', 'h30', '--force', '--grace-period=0', '--ignore-not-found']);
      await cluster.removeAll(all);
    },
  },
  {
    name: "H62 another program's port in our switch has a free address: no pod gets it, a pod that names it reports the port, the Subnet too; with the port these reports go",
    run: async (cluster) => {
      const all = tenantYaml('h62', '10.240.0.0/28');
      await cluster.apply(all);
      await cluster.converged();
      await cluster.ovn.nbctl(...['lsp-add', 'h62-net', 'h62-ext', '--', 'lsp-set-addresses', 'h62-ext', '0a:00:00:00:00:62 10.240.0.2']);
      const { reason, message } = await condition(cluster, 'subnet', 'h62-net', 'WithoutEffect', 'True');
      assert.equal(reason, 'AddressesOfOthers');
      assert.match(message, /"10\.240\.0\.0\/28" has 1 address that ports of other programs in its switch have: 10\.240\.0\.2;/);
      await cluster.apply(
        podYaml('h62', 'any') + podYaml('h62', 'named', { annotations: { 'ovn.kubernetes.io/ip_address': '10.240.0.2' } }),
      );
      assert.equal(await addressOf(cluster, 'h62', 'any'), '10.240.0.3');
      const bound = await condition(cluster, 'pod', 'named', 'kiln.io/NetworkBound', 'False', 'h62');
      assert.match(bound.message, /the address 10\.240\.0\.2 in Subnet "h62-net" is held by port h62-ext of another program/);
      await cluster.ovn.nbctl('lsp-del', 'h62-ext');
      assert.equal(await addressOf(cluster, 'h62', 'named'), '10.240.0.2');
      await cluster.eventually('it is at rest', async () =>
        (await cluster.get('subnet', 'h62-net')).status?.conditions?.every(({ type }) => type !== 'WithoutEffect'),
      );
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h62'), []);
    },
  },
];
