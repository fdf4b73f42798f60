/** Namespaces and the Subnets of their pods: the annotations of a namespace are output, and decide nothing. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, deletePod, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const SWITCH = 'ovn.kubernetes.io/logical_switch';

const subnetAnnotation = async (cluster: ScenarioCluster, namespace: string): Promise<string | undefined> =>
  (await cluster.get('namespace', namespace)).metadata.annotations?.[SWITCH];

export const namespaces: readonly Scenario[] = [
  {
    name: 'C53 Kiln restores annotations of a namespace that two clients overwrite and remove, and its pods are in its Subnet all the while',
    run: async (cluster) => {
      const subnet = subnetYaml('c53-net', { vpc: 'c53', cidrBlock: '10.179.0.0/24', namespaces: ['c53'] });
      await cluster.apply(namespaceYaml('c53') + vpcYaml('c53', { namespaces: ['c53'] }) + subnet);
      await condition(cluster, 'subnet', 'c53-net', 'Ready', 'True');
      const annotate = (...words: readonly string[]): Promise<string> =>
        cluster.kubectl(['annotate', 'namespace', 'c53', '--overwrite', ...words]);
      for (let round = 0; round < 3; round++) {
        await Promise.all([
          annotate(`${SWITCH}=ovn-default`, `round=${round}`),
          annotate(`${SWITCH}-`),
          annotate('ovn.kubernetes.io/cidr=nonsense'),
          cluster.apply(podYaml('c53', `pod-${round}`)),
        ]);
      }
      for (const name of ['pod-0', 'pod-1', 'pod-2']) assert.match(await addressOf(cluster, 'c53', name), /^10\.179\.0\./);
      await cluster.converged();
      const { annotations = {} } = (await cluster.get('namespace', 'c53')).metadata;
      assert.deepEqual(
        [annotations[SWITCH], annotations['ovn.kubernetes.io/cidr'], annotations['round']],
        ['c53-net', '10.179.0.0/24', '2'],
      );
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'c53', '--wait=false']);
      await cluster.kubectl(['delete', 'subnet', 'c53-net', '--timeout=120s']);
      await cluster.eventually('the annotation names another Subnet', async () => (await subnetAnnotation(cluster, 'c53')) !== 'c53-net');
      await cluster.apply(subnet);
      await cluster.eventually('the annotation names the new Subnet', async () => (await subnetAnnotation(cluster, 'c53')) === 'c53-net');
      await cluster.apply(podYaml('c53', 'again'));
      assert.match(await addressOf(cluster, 'c53', 'again'), /^10\.179\.0\./);
      await cluster.removeAll(subnet + vpcYaml('c53') + namespaceYaml('c53'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c53'), []);
    },
  },
  {
    name: 'C54 a namespace has two Subnets: pods take the first declared, then the second; one that names a full Subnet waits and reports it',
    run: async (cluster) => {
      const all =
        namespaceYaml('c54') +
        vpcYaml('c54') +
        subnetYaml('c54-a', { vpc: 'c54', cidrBlock: '10.180.0.0/29', namespaces: ['c54'] }) +
        subnetYaml('c54-b', { vpc: 'c54', cidrBlock: '10.180.1.0/24', namespaces: ['c54'] });
      await cluster.apply(all);
      for (const name of ['c54-a', 'c54-b']) await condition(cluster, 'subnet', name, 'Ready', 'True');
      await cluster.eventually('both are on it', async () => (await subnetAnnotation(cluster, 'c54')) === 'c54-a,c54-b');
      await cluster.apply(podYaml('c54', 'named', { annotations: { [SWITCH]: 'c54-b' } }));
      assert.match(await addressOf(cluster, 'c54', 'named'), /^10\.180\.1\./);
      const fill = ['f1', 'f2', 'f3', 'f4', 'f5'];
      await cluster.apply(fill.map((name) => podYaml('c54', name)).join(''));
      for (const name of fill) assert.match(await addressOf(cluster, 'c54', name), /^10\.180\.0\./, `${name} takes the first declared`);
      await cluster.apply(podYaml('c54', 'full', { annotations: { [SWITCH]: 'c54-a' } }) + podYaml('c54', 'any'));
      assert.match((await condition(cluster, 'pod', 'full', 'kiln.io/NetworkBound', 'False', 'c54')).message, /c54-a/);
      assert.match(await addressOf(cluster, 'c54', 'any'), /^10\.180\.1\./, 'unnamed, it takes the next declared');
      assert.equal((await cluster.get('pod', 'full', 'c54')).metadata.annotations?.['ovn.kubernetes.io/ip_address'], undefined);
      await deletePod(cluster, 'c54', 'f3');
      assert.match(await addressOf(cluster, 'c54', 'full'), /^10\.180\.0\./);
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c54'), []);
    },
  },
  {
    name: 'C84 a namespace is deleted before the Subnets, pools and networks that name it: no row of it is left, and they go in turn',
    run: async (cluster) => {
      const outside =
        vpcYaml('c84', { namespaces: ['c84'] }) +
        subnetYaml('c84-net', { vpc: 'c84', cidrBlock: '10.181.0.0/24', namespaces: ['c84'] }) +
        subnetYaml('c84-two', { vpc: 'c84', cidrBlock: '10.181.1.0/24', provider: 'second.c84.ovn' }) +
        poolYaml('c84-pool', { subnet: 'c84-net', ips: ['10.181.0.40..10.181.0.60'], namespaces: ['c84'], enableAddressSet: true });
      const inside = attachmentYaml('c84', 'second', '{"cniVersion":"0.3.0","type":"kube-ovn"}');
      const pods = ['a', 'b', 'c'].map((name) => podYaml('c84', name, { annotations: { [NETWORKS]: 'second' } })).join('');
      await cluster.apply(outside + namespaceYaml('c84') + inside + pods);
      for (const name of ['a', 'b', 'c']) assert.match(await addressOf(cluster, 'c84', name), /^10\.181\.0\.[45]\d$/);
      await cluster.kubectl(['delete', 'namespace', 'c84', '--timeout=120s']);
      await cluster.eventually('its addresses are free', async () => !(await cluster.names('ip')).some((name) => name.includes('.c84')));
      await cluster.converged();
      for (const name of ['c84-net', 'c84-two']) assert.equal((await cluster.get('subnet', name)).status?.['v4usingIPs'], 0);
      await cluster.removeAll(outside);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c84'), []);
    },
  },
  {
    name: 'C82 pods of every layout of interfaces run, and no check finds a fault with any of them',
    run: async (cluster) => {
      const outside =
        vpcYaml('c82') +
        subnetYaml('c82-net', { vpc: 'c82', cidrBlock: '10.182.0.0/24', namespaces: ['c82'] }) +
        subnetYaml('c82-fast', { vpc: 'c82', cidrBlock: '10.182.1.0/24', provider: 'fast.c82.ovn' }) +
        subnetYaml('c82-wide', { cidrBlock: '10.182.2.0/24', provider: 'wide.c82' }) +
        namespaceYaml('c82') +
        attachmentYaml('c82', 'fast', '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"fast.c82.ovn"}') +
        attachmentYaml('c82', 'wide', '{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn","provider":"wide.c82"}}');
      const layouts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
        own: {},
        both: { [NETWORKS]: 'fast,wide' },
        twice: { [NETWORKS]: 'fast@net1,fast@net2' },
        instead: { 'v1.multus-cni.io/default-network': 'c82/fast' },
        addresses: { [NETWORKS]: 'wide' },
      };
      await cluster.apply(outside);
      // A pod that is observed before its Subnet would have a condition about that, correctly.
      await cluster.converged();
      await cluster.apply(
        Object.entries(layouts)
          .map(([name, annotations]) => podYaml('c82', name, { annotations }))
          .join('') + podYaml('c82', 'host').replace('spec:\n', 'spec:\n  hostNetwork: true\n'),
      );
      for (const name of Object.keys(layouts).filter((each) => each !== 'instead')) await running(cluster, 'c82', name);
      await cluster.eventually(
        'the pod with another network in place of its own is allocated',
        async () => (await cluster.get('pod', 'instead', 'c82')).metadata.annotations?.['fast.c82.ovn.kubernetes.io/allocated'] === 'true',
      );
      await cluster.converged();
      for (const name of [...Object.keys(layouts), 'host']) {
        const warnings = (await cluster.events('Pod', name, 'c82')).filter(({ type }) => type === 'Warning');
        assert.deepEqual(warnings, [], name);
      }
      await cluster.removeAll(outside);
      await cluster.eventually('its addresses are free', async () => !(await cluster.names('ip')).some((name) => name.includes('.c82')));
      await untilDeleted(cluster, 'subnet', 'c82-wide');
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c82'), []);
    },
  },
];

export function poolYaml(name: string, spec: object): string {
  return `---\napiVersion: kubeovn.io/v1\nkind: IPPool\nmetadata: {name: ${name}}\nspec: ${JSON.stringify(spec)}\n`;
}
