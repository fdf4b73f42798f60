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

export const services: readonly Scenario[] = [
  {
    name: 'a Service of the default Vpc and one of a tenant reach their pods in ovn-trace, refuse at once without endpoints, and leave no vip behind',
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
