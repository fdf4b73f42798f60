/** Services in OVN: where ovn-trace delivers a packet to a Service, and what refuses it. */
import assert from 'node:assert/strict';
import type { PrintedObject, ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { said } from './nat-network.ts';
import { rowNamed } from './northbound.ts';
import { entries } from '../../src/testing/northbound-dump.ts';
import { namespaceYaml, podYaml, running, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

function serviceYaml(namespace: string, name: string, spec: object): string {
  const shown = { ports: [{ name: 'http', port: 80, targetPort: 8080 }], selector: { app: name }, ...spec };
  return `---\n${JSON.stringify({ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: shown })}\n`;
}

function labelled(namespace: string, name: string, app: string): string {
  return podYaml(namespace, name).replace(/^( {2}namespace: .*)$/m, `$1\n  labels: {app: ${app}}`);
}

/** The text of a trace of the first packet of a connection. */
async function traced(cluster: ScenarioCluster, from: PrintedObject, namespace: string, to: string, port: number): Promise<string> {
  const { name } = from.metadata;
  const network = said(from, 'logical_switch');
  const router = rowNamed(await cluster.dump(), 'Logical_Router_Port', `${said(from, 'logical_router')}-${network}`);
  const flow = [
    `inport == "${name}.${namespace}" && eth.src == ${said(from, 'mac_address')} && eth.dst == ${String(router['mac'])}`,
    `ip4.src == ${said(from, 'ip_address')} && ip4.dst == ${to} && ip.ttl == 64 && tcp && tcp.dst == ${port}`,
  ].join(' && ');
  return await cluster.ovn.trace('--ct=new', '--detailed', network, flow);
}

function arrives(trace: string): readonly string[] {
  return [...trace.matchAll(/output to "([^"]+)"/g)].map(([, port = '']) => port);
}

async function vipsOf(cluster: ScenarioCluster, balancer: string, address: string): Promise<readonly string[]> {
  const { vips } = rowNamed(await cluster.dump(), 'Load_Balancer', balancer);
  return Object.entries(entries(vips))
    .filter(([key]) => key.startsWith(`${address}:`))
    .map(([key, to]) => `${key} ${to}`);
}

/** Older servers have no EndpointSlices of v1: Kiln leaves Services to kube-proxy there. */
const SLICES_SINCE = 21;

export const services: readonly Scenario[] = [
  {
    name: 'C71 a Service of both families has a vip of each address, and each goes with it, five times over',
    // The laboratory's API server gives addresses of one family.
    only: 'real',
    apiServerSince: SLICES_SINCE,
    run: async (cluster) => {
      const networks = namespaceYaml('both-main') + tenantYaml('both-red', '10.232.0.0/24');
      await cluster.apply(networks);
      const balancers = { 'both-main': 'cluster-udp-loadbalancer', 'both-red': 'vpc-both-red-udp-load' };
      const spec = { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 53, protocol: 'UDP' }] };
      for (const life of [1, 2, 3, 4, 5])
        for (const [namespace, balancer] of Object.entries(balancers)) {
          await cluster.apply(serviceYaml(namespace, 'twofold', spec));
          const addresses = (await cluster.get('service', 'twofold', namespace)).spec['clusterIPs'] as readonly string[];
          assert.equal(addresses.length, 2);
          const vips = async (): Promise<readonly string[]> =>
            (await Promise.all(addresses.map((one) => vipsOf(cluster, balancer, one.includes(':') ? `[${one}]` : one)))).flat();
          await cluster.eventually(`both vips in ${balancer}, life ${life}`, async () => (await vips()).length === 2);
          await cluster.kubectl(['delete', 'service', 'twofold', '-n', namespace]);
          await cluster.eventually(`no vip in ${balancer}, life ${life}`, async () => (await vips()).length === 0);
        }
      await cluster.removeAll(networks);
    },
  },
  {
    name: 'a Service of the default Vpc and one of a tenant reach their pods in ovn-trace, refuse at once without endpoints, and leave no vip behind',
    apiServerSince: SLICES_SINCE,
    run: async (cluster) => {
      const served = [
        namespaceYaml('served') + tenantYaml('served-red', '10.231.0.0/24'),
        ...['served', 'served-red'].map((namespace) => labelled(namespace, 'web', 'web') + podYaml(namespace, 'client')),
      ].join('');
      await cluster.apply(served);
      await cluster.apply(['served', 'served-red'].map((namespace) => serviceYaml(namespace, 'web', {})).join(''));
      const balancers = { served: 'cluster-tcp-loadbalancer', 'served-red': 'vpc-served-red-tcp-load' };
      for (const [namespace, balancer] of Object.entries(balancers)) {
        const web = await running(cluster, namespace, 'web');
        const client = await running(cluster, namespace, 'client');
        const vip = String((await cluster.get('service', 'web', namespace)).spec['clusterIP']);
        const full = [`${vip}:80 ${said(web, 'ip_address')}:8080`];
        await cluster.eventually(`the vip in ${balancer}`, async () => {
          assert.deepEqual(await vipsOf(cluster, balancer, vip), full);
          return true;
        });
        await cluster.ovn.nbctl('--wait=sb', 'sync');
        assert.equal(arrives(await traced(cluster, client, namespace, vip, 80)).at(-1), `web.${namespace}`);

        await cluster.kubectl(['label', 'pod', 'web', '-n', namespace, '--overwrite', 'app=none']);
        await cluster.eventually(`the vip in ${balancer} without endpoints`, async () => {
          assert.deepEqual(await vipsOf(cluster, balancer, vip), [`${vip}:80 `]);
          return true;
        });
        await cluster.ovn.nbctl('--wait=sb', 'sync');
        const refused = await traced(cluster, client, namespace, vip, 80);
        assert.match(refused, /tcp_reset/, 'it is refused, not left to time out');

        await cluster.kubectl(['delete', 'service', 'web', '-n', namespace]);
        await cluster.eventually(`no vip in ${balancer}`, async () => {
          assert.deepEqual(await vipsOf(cluster, balancer, vip), []);
          return true;
        });
      }
      await cluster.removeAll(served);
    },
  },
];
