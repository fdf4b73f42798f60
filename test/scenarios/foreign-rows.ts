/** One OVN shared with other programs: foreign rows are left unchanged, and a name that a foreign row has is reported as a conflict. */
import assert from 'node:assert/strict';
import { entries } from '../../src/testing/northbound-dump.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { kiln } from './operator-commands.ts';
import { rowsNamed } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const PROJECT = '6c0f1b0e-6a2f-4b7e-9d5b-0d2f8d8f7a11';

/** Rows as Neutron, ovn-kubernetes, ovn-ic and a user with ovn-nbctl leave them. */
export async function makeForeignRows(cluster: ScenarioCluster): Promise<void> {
  const neutron = `neutron-${PROJECT}`;
  await cluster.ovn.nbctl(
    ...[
      'ls-add',
      neutron,
      '--',
      'set',
      'Logical_Switch',
      neutron,
      'external_ids:neutron\\:network_name=web',
      'other_config:mcast_snoop=false',
      '--',
    ],
    ...[
      'lsp-add',
      neutron,
      'b3c1',
      '--',
      'lsp-set-addresses',
      'b3c1',
      'fa:16:3e:00:00:01 10.91.0.5',
      '--',
      'set',
      'Logical_Switch_Port',
      'b3c1',
      'external_ids:neutron\\:device_id=vm',
      '--',
    ],
    ...['lr-add', `${neutron}-r`, '--', 'set', 'Logical_Router', `${neutron}-r`, 'external_ids:neutron\\:router_name=gw', '--'],
    ...[
      'lrp-add',
      `${neutron}-r`,
      'lrp-b3c1',
      'fa:16:3e:00:00:02',
      '10.91.0.1/24',
      '--',
      'lr-nat-add',
      `${neutron}-r`,
      'snat',
      '172.24.4.9',
      '10.91.0.0/24',
      '--',
    ],
    ...[
      'lr-route-add',
      `${neutron}-r`,
      '0.0.0.0/0',
      '172.24.4.1',
      '--',
      'lr-policy-add',
      `${neutron}-r`,
      '100',
      'ip4.src == 10.91.0.0/24',
      'drop',
      '--',
    ],
    ...[
      'pg-add',
      'neutron_pg_drop',
      'b3c1',
      '--',
      'set',
      'Port_Group',
      'neutron_pg_drop',
      'external_ids:neutron\\:security_group_id=default',
      '--',
    ],
    ...['acl-add', 'neutron_pg_drop', 'to-lport', '1001', 'outport == @neutron_pg_drop && ip', 'drop'],
  );
  await cluster.ovn.nbctl(
    ...[
      'ls-add',
      'ovnk-node',
      '--',
      'set',
      'Logical_Switch',
      'ovnk-node',
      'external_ids:k8s.ovn.org/network=default',
      '--',
      'lb-add',
      'ovnk-lb',
      '10.96.0.1:443',
      '172.18.0.2:6443',
      '--',
      'ls-lb-add',
      'ovnk-node',
      'ovnk-lb',
      '--',
    ],
    ...[
      'ls-add',
      'by-hand',
      '--',
      'lsp-add',
      'by-hand',
      'by-hand-port',
      '--',
      'lr-add',
      'by-hand-router',
      '--',
      'lr-route-add',
      'by-hand-router',
      '10.92.0.0/16',
      '10.92.0.1',
      '--',
      'create',
      'Address_Set',
      'name=by_hand',
      'addresses=10.92.0.9',
      '--',
    ],
    ...['create', 'DHCP_Options', 'cidr=10.92.0.0/24', 'options:lease_time=60'],
  );
}

export async function removeForeignRows(cluster: ScenarioCluster): Promise<void> {
  const neutron = `neutron-${PROJECT}`;
  await cluster.ovn.nbctl(
    ...[
      'pg-del',
      'neutron_pg_drop',
      '--',
      'ls-del',
      neutron,
      '--',
      'lr-del',
      `${neutron}-r`,
      '--',
      'ls-del',
      'ovnk-node',
      '--',
      'lb-del',
      'ovnk-lb',
      '--',
      'ls-del',
      'by-hand',
      '--',
      'lr-del',
      'by-hand-router',
      '--',
      'destroy',
      'Address_Set',
      'by_hand',
    ],
  );
  const options = (await cluster.rows('DHCP_Options')).find(({ cidr }) => cidr === '10.92.0.0/24');
  await cluster.ovn.nbctl('dhcp-options-del', String(options?.['_uuid']));
}

export const foreignRows: readonly Scenario[] = [
  {
    name: 'C79 rows of Neutron, of ovn-kubernetes and without owner stay bit by bit through create, delete, kill -9 and start',
    alone: true,
    run: async (cluster) => {
      await makeForeignRows(cluster);
      await cluster.converged();
      const before = await cluster.foreignRows();
      const options = async (): Promise<object> => entries((await cluster.rows('NB_Global'))[0]?.['options']);
      const globally = await options();
      assert.deepEqual(
        Object.keys(globally).filter((key) => key.startsWith('ls_') || key.startsWith('use_')),
        [],
        "options for the whole database would change the others' flows",
      );
      assert.ok(before.size >= 15);
      const around = await kiln(cluster, 'neighbours', '-o', 'json', '--neighbours', '[{"name":"hand","names":"^by[-_]hand"}]');
      assert.equal(around.exit, 0, around.text);
      const { neighbours } = JSON.parse(around.text) as {
        readonly neighbours: readonly { readonly name: string; readonly rows: number }[];
      };
      assert.deepEqual(
        neighbours.map(({ name }) => name),
        ['hand', 'neutron', 'ovn-kubernetes', 'unmarked'],
      );
      assert.match((await kiln(cluster, 'status')).text, /of neutron \d+ · ovn-kubernetes \d+ · unmarked \d+: kiln neighbours/);
      const network =
        vpcYaml('beside') +
        subnetYaml('beside-net', { vpc: 'beside', cidrBlock: '10.91.0.0/24', namespaces: ['beside'], private: true }) +
        namespaceYaml('beside');
      await cluster.apply(network + podYaml('beside', 'pod'));
      await running(cluster, 'beside', 'pod');
      await cluster.converged();
      await cluster.invariantsHold(before);
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      await cluster.invariantsHold(before);
      await cluster.removeAll(network);
      await cluster.converged();
      await cluster.invariantsHold(before);
      assert.deepEqual(await options(), globally);
      await removeForeignRows(cluster);
    },
  },
  {
    name: 'foreign members of our rows stay: a port in our switch, a route, a policy and a rule in our router and switch, keys in NB_Global',
    alone: true,
    run: async (cluster) => {
      const network =
        vpcYaml('shared') +
        subnetYaml('shared-net', { vpc: 'shared', cidrBlock: '10.93.0.0/24', namespaces: ['shared'] }) +
        namespaceYaml('shared');
      await cluster.apply(network);
      await condition(cluster, 'subnet', 'shared-net', 'Ready', 'True');
      await cluster.converged();
      await cluster.ovn.nbctl(
        ...[
          'lsp-add',
          'shared-net',
          'stranger',
          '--',
          'lsp-set-addresses',
          'stranger',
          '02:00:00:00:00:99 10.93.0.99',
          '--',
          'lr-route-add',
          'shared',
          '10.94.0.0/16',
          '10.93.0.99',
          '--',
        ],
        ...[
          'lr-policy-add',
          'shared',
          '7',
          'ip4.dst == 10.94.0.0/16',
          'allow',
          '--',
          'acl-add',
          'shared-net',
          'from-lport',
          '77',
          'ip4.dst == 10.94.0.0/16',
          'allow',
          '--',
          'set',
          'NB_Global',
          '.',
          'external_ids:theirs=1',
          'options:their_option=2',
        ],
      );
      const before = await cluster.foreignRows();
      await cluster.patch('vpc', 'shared', { spec: { staticRoutes: [{ cidr: '10.95.0.0/16', nextHopIP: '10.93.0.7' }] } });
      await cluster.patch('subnet', 'shared-net', { spec: { private: true } });
      await cluster.apply(podYaml('shared', 'pod'));
      await running(cluster, 'shared', 'pod');
      await cluster.converged();
      await cluster.invariantsHold(before);
      await cluster.patch('subnet', 'shared-net', { spec: { private: false } });
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.converged();
      await cluster.invariantsHold(before);
      const [global] = await cluster.rows('NB_Global');
      assert.equal(entries(global?.['external_ids'])['theirs'], '1');
      assert.equal(entries(global?.['options'])['their_option'], '2');
      await cluster.ovn.nbctl(
        ...[
          'lsp-del',
          'stranger',
          '--',
          'remove',
          'NB_Global',
          '.',
          'external_ids',
          'theirs',
          '--',
          'remove',
          'NB_Global',
          '.',
          'options',
          'their_option',
          '--',
        ],
        ...[
          'lr-route-del',
          'shared',
          '10.94.0.0/16',
          '--',
          'lr-policy-del',
          'shared',
          '7',
          'ip4.dst == 10.94.0.0/16',
          '--',
          'acl-del',
          'shared-net',
          'from-lport',
          '77',
          'ip4.dst == 10.94.0.0/16',
        ],
      );
      await cluster.removeAll(network);
    },
  },
  {
    name: "a foreign row has the name of an object's row: condition and Event report the conflict, the row is unchanged, and the object is in effect once the name is free",
    alone: true,
    run: async (cluster) => {
      await cluster.ovn.nbctl(
        'ls-add',
        'taken-net',
        '--',
        'lr-add',
        'taken-vpc',
        '--',
        'ls-add',
        'elsewhere',
        '--',
        'lsp-add',
        'elsewhere',
        'pod.taken',
      );
      const before = await cluster.foreignRows();
      const network = vpcYaml('taken') + subnetYaml('taken-net', { vpc: 'taken', cidrBlock: '10.96.0.0/24' }) + vpcYaml('taken-vpc');
      const pods =
        subnetYaml('taken-own', { vpc: 'taken', cidrBlock: '10.97.0.0/24', namespaces: ['taken'] }) +
        namespaceYaml('taken') +
        podYaml('taken', 'pod') +
        podYaml('taken', 'other');
      await cluster.apply(network + pods);
      await running(cluster, 'taken', 'other');
      const pod = await condition(cluster, 'pod', 'pod', 'kiln.io/NetworkBound', 'False', 'taken');
      assert.match(pod.message, /pod\.taken/);
      const subnet = await condition(cluster, 'subnet', 'taken-net', 'Ready', 'False');
      const vpc = await condition(cluster, 'vpc', 'taken-vpc', 'Ready', 'False');
      const messagesOf = async (kind: string, name: string, namespace?: string): Promise<readonly string[]> => {
        const object = await cluster.get(kind.toLowerCase(), name, namespace);
        return [
          ...(object.status?.conditions ?? []).map(({ message = '' }) => message),
          ...(await cluster.events(kind, name, namespace)).map(({ message }) => message),
        ];
      };
      await cluster.eventually('Subnet, Vpc and Pod name the row', async () => {
        for (const [kind, name, namespace] of [
          ['Subnet', 'taken-net'],
          ['Vpc', 'taken-vpc'],
          ['Pod', 'pod', 'taken'],
        ] as const) {
          const messages = await messagesOf(kind, name, namespace);
          assert.ok(
            messages.some((message) => /not Kiln|foreign|belongs|another/i.test(message)),
            `${kind} ${name} reports: ${messages.join(' | ')} (${subnet.message}; ${vpc.message})`,
          );
          assert.ok(
            (await cluster.events(kind, name, namespace)).some(({ type }) => type === 'Warning'),
            `an Event on ${kind} ${name}`,
          );
        }
        return true;
      });
      // The counts in the status of a Subnet are written at most once a second.
      await cluster.converged();
      await cluster.invariantsHold(before);
      await cluster.ovn.nbctl('ls-del', 'taken-net', '--', 'lr-del', 'taken-vpc', '--', 'ls-del', 'elsewhere');
      await condition(cluster, 'subnet', 'taken-net', 'Ready', 'True');
      await condition(cluster, 'vpc', 'taken-vpc', 'Ready', 'True');
      assert.match(await addressOf(cluster, 'taken', 'pod'), /^10\.97\.0\./);
      await cluster.removeAll(network + pods);
      await untilDeleted(cluster, 'vpc', 'taken');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch', 'taken-net'), []);
    },
  },
];
