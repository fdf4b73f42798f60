/** An external network of a Vpc, for scenarios of NAT. */
import assert from 'node:assert/strict';
import type { PrintedObject, ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { condition, namespaceYaml, subnetYaml, vpcYaml } from './pods.ts';

/** The manifest of an object. */
export const object = (kind: string, name: string, spec: object): string =>
  `---\napiVersion: kubeovn.io/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\nspec: ${JSON.stringify(spec)}\n`;

/** A Vpc `<name>` with an external Subnet `<name>-ext`, in which the pod `<name>-out/host` is the outside host. With `vlan` it is a physical network. */
export const network = (name: string, octet: number, vlan?: string): string =>
  vpcYaml(`${name}-out`) +
  subnetYaml(`${name}-ext`, {
    ...(vlan === undefined ? { vpc: `${name}-out` } : { vlan }),
    cidrBlock: `172.${octet}.0.0/24,fd00:${octet}:ff::/64`,
    namespaces: [`${name}-out`],
  }) +
  vpcYaml(name, { enableExternal: true, extraExternalSubnets: [`${name}-ext`] }) +
  subnetYaml(`${name}-net`, { vpc: name, cidrBlock: `10.${octet}.0.0/24,fd00:${octet}::/64`, namespaces: [name] }) +
  namespaceYaml(`${name}-out`) +
  namespaceYaml(name);

const GATEWAY = 'ovn.kubernetes.io/external-gw';

/** Nodes get what their agents and a user write; `null` takes it away. */
export async function gatewayNodes(cluster: ScenarioCluster, label: 'true' | null): Promise<void> {
  for (const node of ['node-1', 'node-2'])
    await cluster.patch('node', node, {
      metadata: {
        labels: { [GATEWAY]: label },
        annotations: { 'ovn.kubernetes.io/chassis': label === null ? null : `chassis-of-${node}` },
      },
    });
}

export async function ready(cluster: ScenarioCluster, kind: string, name: string): Promise<PrintedObject> {
  await condition(cluster, kind, name, 'Ready', 'True');
  const one = await cluster.get(kind, name);
  assert.equal(one.status?.['ready'], true);
  return one;
}

export const said = (pod: PrintedObject, suffix: string): string => pod.metadata.annotations?.[`ovn.kubernetes.io/${suffix}`] ?? '';
export const v4 = (pod: PrintedObject): string => said(pod, 'ip_address').split(',', 1)[0] ?? '';
