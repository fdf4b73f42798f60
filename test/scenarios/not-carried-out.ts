/** What Kiln does not carry out it says on the object: silence about a policy that nobody enforces is unsafe. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { condition, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

async function warned(
  cluster: ScenarioCluster,
  kind: string,
  name: string,
  reason: string,
  pattern: RegExp,
  namespace?: string,
): Promise<void> {
  await cluster.eventually(`an Event on ${kind} ${name}`, async () => {
    const found = (await cluster.events(kind, name, namespace)).find((event) => event.reason === reason && pattern.test(event.message));
    return found !== undefined && found.type === 'Warning';
  });
}

const served = `---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: unserved}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny, namespace: unserved}
spec: {podSelector: {}, policyTypes: [Ingress]}
---
apiVersion: kubeovn.io/v1
kind: OvnSnatRule
metadata: {name: unserved-snat}
spec: {ovnEip: nowhere, vpcSubnet: nowhere}
---
apiVersion: kubeovn.io/v1
kind: SecurityGroup
metadata: {name: unserved-sg}
spec: {allowSameGroupTraffic: true}
`;

export const notCarriedOut: readonly Scenario[] = [
  {
    name: 'a Service, a NetworkPolicy, an OvnSnatRule and a SecurityGroup each get one Event that they are not carried out, and a restart does not repeat it',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(namespaceYaml('unserved') + served);
      await warned(cluster, 'Service', 'web', 'NotCarriedOut', /Service unserved\/web is not carried out/, 'unserved');
      await warned(cluster, 'NetworkPolicy', 'deny', 'NotCarriedOut', /traffic that it should deny is still allowed/, 'unserved');
      await warned(cluster, 'OvnSnatRule', 'unserved-snat', 'NotCarriedOut', /OvnSnatRule/);
      await warned(cluster, 'SecurityGroup', 'unserved-sg', 'NotCarriedOut', /still allowed/);
      await cluster.controller.stop();
      await cluster.startController().untilLogged('writing');
      await cluster.apply(podYaml('unserved', 'pod'));
      await running(cluster, 'unserved', 'pod');
      const printed = await cluster.kubectl(['get', 'events', '-n', 'unserved', '--field-selector=reason=NotCarriedOut', '-o', 'json']);
      const events = (
        JSON.parse(printed) as {
          readonly items: readonly { readonly involvedObject: { readonly name: string }; readonly count?: number }[];
        }
      ).items;
      assert.deepEqual(events.map(({ involvedObject, count = 1 }) => `${involvedObject.name} ${count}`).toSorted(), ['deny 1', 'web 1']);
      await cluster.removeAll(served + namespaceYaml('unserved'));
    },
  },
  {
    name: 'fields of a Subnet and a Vpc that are not carried out are named in an Event; all else of them is in effect',
    run: async (cluster) => {
      const all =
        vpcYaml('fields', { enableExternal: true }) +
        subnetYaml('fields-net', { cidrBlock: '10.110.0.0/24', natOutgoing: true }) +
        subnetYaml('fields-vlan', { vpc: 'fields', cidrBlock: '10.111.0.0/24', vlan: 'vlan10' });
      await cluster.apply(all);
      await warned(cluster, 'Subnet', 'fields-net', 'UnsupportedField', /natOutgoing/);
      await warned(cluster, 'Subnet', 'fields-vlan', 'UnsupportedField', /vlan/);
      await warned(cluster, 'Vpc', 'fields', 'UnsupportedField', /enableExternal/);
      await condition(cluster, 'subnet', 'fields-net', 'Ready', 'True');
      await cluster.removeAll(all);
    },
  },
];
