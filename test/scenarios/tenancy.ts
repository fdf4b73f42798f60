/** `--tenancy=namespaced`: what the rules and the webhook deny a tenant, and how an administrator permits it. */
import assert from 'node:assert/strict';
import { members } from '../../src/testing/northbound-dump.ts';
import { withWebhook } from './admission.ts';
import { poolYaml } from './namespaces.ts';
import { port, rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, namespaceYaml, podYaml, deletePod, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const NAMESPACED = ['--tenancy=namespaced'];
const IN_LANDLORD = { annotations: { 'ovn.kubernetes.io/logical_switch': 'landlord-net' } };
const SPOOFING = { annotations: { 'ovn.kubernetes.io/port_security': 'false', 'ovn.kubernetes.io/port_vips': '0.0.0.0/0' } };

export const tenancy: readonly Scenario[] = [
  {
    name: 'tenancy namespaced: running pods in the Subnet of another tenant stay and report it, new ones are invalid until the Subnet admits the namespace',
    alone: true,
    run: async (cluster) => {
      const all = tenantYaml('landlord', '10.171.0.0/24') + namespaceYaml('lodger');
      await cluster.apply(all + podYaml('landlord', 'own') + podYaml('lodger', 'early', IN_LANDLORD));
      const early = await addressOf(cluster, 'lodger', 'early');
      assert.match(early, /^10\.171\.0\./, 'open: a pod may name any Subnet');
      await addressOf(cluster, 'landlord', 'own');
      await cluster.controller.stop();
      const controller = cluster.startController(NAMESPACED);
      await controller.untilLogged('writing');
      const bound = await condition(cluster, 'pod', 'early', 'kiln.io/NetworkBound', 'True', 'lodger');
      assert.equal(bound.reason, 'NamespaceNotAdmitted');
      assert.match(bound.message, /Subnet landlord-net does not admit Namespace lodger.*as long as it runs/);
      assert.equal(await addressOf(cluster, 'lodger', 'early'), early);
      await cluster.eventually(
        'the ports of running pods are secured',
        async () => members(port(await cluster.dump(), 'own.landlord')['port_security']).length === 1,
      );

      await cluster.apply(podYaml('lodger', 'late', IN_LANDLORD) + podYaml('lodger', 'spoofs', SPOOFING));
      const late = await condition(cluster, 'pod', 'late', 'kiln.io/NetworkBound', 'False', 'lodger');
      assert.equal(late.reason, 'NamespaceNotAdmitted');
      assert.match(late.message, /logical_switch\] "landlord-net".*spec\.namespaces.*kubectl edit/);
      const spoofs = await condition(cluster, 'pod', 'spoofs', 'kiln.io/NetworkBound', 'False', 'lodger');
      assert.equal(spoofs.reason, 'PortNotAllowed');
      assert.match(spoofs.message, /kiln\.io\/allow-port-security-off=true/);
      assert.ok((await cluster.events('Pod', 'late', 'lodger')).some(({ reason }) => reason === 'NamespaceNotAdmitted'));
      const dump = await cluster.dump();
      assert.deepEqual(
        [...rowsNamed(dump, 'Logical_Switch_Port', 'late.lodger'), ...rowsNamed(dump, 'Logical_Switch_Port', 'spoofs.lodger')],
        [],
      );

      await withWebhook(
        cluster,
        async () => {
          const apply = ['apply', '--validate=false', '-f', '-'];
          const denial = await cluster.kubectlFails(apply, podYaml('lodger', 'asks', IN_LANDLORD));
          assert.match(denial, /Subnet landlord-net does not admit Namespace lodger/);
          assert.match(await cluster.kubectlFails(apply, podYaml('lodger', 'asks', SPOOFING)), /port_security\] "false" is not allowed/);
          await cluster.kubectlFails(['annotate', 'pod', 'early', '-n', 'lodger', 'ovn.kubernetes.io/layer2_forward=true']);
          await cluster.kubectl(['annotate', 'pod', 'early', '-n', 'lodger', 'note=mine']);
        },
        { flags: NAMESPACED },
      );

      await cluster.kubectl([
        'annotate',
        'subnet',
        'landlord-net',
        'kiln.io/admit-namespaces=lodger',
        'kiln.io/allow-port-security-off=true',
      ]);
      assert.match(await addressOf(cluster, 'lodger', 'late'), /^10\.171\.0\./, 'the administrator lets it in');
      await cluster.eventually(
        'the condition of the running pod is Bound',
        async () => (await condition(cluster, 'pod', 'early', 'kiln.io/NetworkBound', 'True', 'lodger')).reason === 'Bound',
      );
      for (const name of ['early', 'late']) await deletePod(cluster, 'lodger', name);
      await controller.stop();
      const open = cluster.startController();
      await open.untilLogged('writing');
      await addressOf(cluster, 'lodger', 'spoofs');
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'landlord', 'lodger'), []);
    },
  },
  {
    name: 'tenancy open: an IPPool for one namespace gives its addresses to no pod of another, by name, address, list, Vip or IP object; the pool admits them when it lists the namespace',
    alone: true,
    run: async (cluster) => {
      const key = 'ovn.kubernetes.io';
      // The last of the pool: no other pod gets it by chance.
      const ways: Readonly<Record<string, Readonly<Record<string, string>>>> = {
        'by-name': { [`${key}/ip_pool`]: 'poolowner' },
        'by-address': { [`${key}/ip_address`]: '10.245.0.49' },
        'by-list': { [`${key}/ip_pool`]: '10.245.0.42,10.245.0.9' },
        'by-vip': { [`${key}/vip`]: 'poolowner-vip' },
      };
      const pool = (...namespaces: readonly string[]): string =>
        poolYaml('poolowner', { subnet: 'poolowner-net', ips: ['10.245.0.40..10.245.0.49'], namespaces });
      const vip = `---\napiVersion: kubeovn.io/v1\nkind: Vip\nmetadata: {name: poolowner-vip}\nspec: {subnet: poolowner-net, v4ip: 10.245.0.43}\n`;
      const ip = `---\napiVersion: kubeovn.io/v1\nkind: IP\nmetadata: {name: by-object.poolguest}\nspec: {podName: by-object, namespace: poolguest, subnet: poolowner-net, ipAddress: 10.245.0.44}\n`;
      const all = tenantYaml('poolowner', '10.245.0.0/24', { namespaces: ['poolowner', 'poolguest'] }) + namespaceYaml('poolguest');
      const pods = Object.entries(ways).map(([name, annotations]) => podYaml('poolguest', name, { annotations }));
      await cluster.apply(all + pool('poolowner') + vip);
      await cluster.eventually(
        'the Vip has its address',
        async () => (await cluster.get('vip', 'poolowner-vip')).status?.['v4ip'] !== undefined,
      );
      await cluster.apply(ip + pods.join('') + podYaml('poolowner', 'own') + podYaml('poolguest', 'free'));
      for (const name of Object.keys(ways)) {
        const { reason, message } = await condition(cluster, 'pod', name, 'kiln.io/NetworkBound', 'False', 'poolguest');
        assert.equal(reason, 'NamespaceNotAdmitted', message);
        assert.match(message, /IPPool poolowner\b.*kubectl edit ippool poolowner/);
        await cluster.eventually(`pod ${name} has an Event`, async () =>
          (await cluster.events('Pod', name, 'poolguest')).some((event) => event.reason === 'NamespaceNotAdmitted'),
        );
      }
      await cluster.eventually(
        'the IP object is invalid',
        async () =>
          (await cluster.get('ip', 'by-object.poolguest')).metadata.annotations?.['kiln.io/conditions']?.includes(
            'NamespaceNotAdmitted',
          ) === true,
      );
      assert.match(await addressOf(cluster, 'poolowner', 'own'), /^10\.245\.0\.4\d$/);
      assert.doesNotMatch(await addressOf(cluster, 'poolguest', 'free'), /^10\.245\.0\.4\d$/);
      await withWebhook(cluster, async () => {
        const denial = await cluster.kubectlFails(
          ['apply', '--validate=false', '-f', '-'],
          podYaml('poolguest', 'asks', { annotations: ways['by-address'] ?? {} }),
        );
        assert.match(denial, /address 10\.245\.0\.49 is of IPPool poolowner/);
      });
      await cluster.apply(pool('poolowner', 'poolguest'));
      for (const name of ['by-name', 'by-address', 'by-vip'])
        assert.match(await addressOf(cluster, 'poolguest', name), /^10\.245\.0\.4\d$/);
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'poolguest', '--wait=false']);
      await cluster.kubectl(['delete', 'ip', 'by-object.poolguest', '--wait=false']);
      await cluster.kubectl(['delete', 'vip', 'poolowner-vip', '--timeout=120s']);
      await cluster.kubectl(['delete', 'ippool', 'poolowner', '--timeout=120s']);
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'poolowner', 'poolguest'), []);
    },
  },
];
