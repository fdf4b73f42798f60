/** Each object that is not implemented gets a condition: a policy that is silently not enforced is unsafe. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { ProgramError } from '../../lab/programs/run-program.ts';
import { conditionsOf } from '../../src/world/conditions.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { RESOURCES } from '../../src/world/resources.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { traces } from './northbound.ts';
import { condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';
import { UNIMPLEMENTED_SPECS } from './unimplemented-specs.ts';

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
kind: IptablesSnatRule
metadata: {name: unserved-snat}
spec: {eip: nowhere, internalCIDR: 10.0.0.0/24}
---
apiVersion: kubeovn.io/v1
kind: SecurityGroup
metadata: {name: unserved-sg}
spec: {allowSameGroupTraffic: true}
`;

const NAME = 'unimplemented';

const KINDS = Object.keys(UNIMPLEMENTED_SPECS) as readonly ResourceName[];

function manifestOf(resource: ResourceName, spec: object, finalizers: readonly string[] = []): string {
  const { group, version, kind, namespaced } = RESOURCES[resource];
  const metadata = { name: NAME, ...(namespaced ? { namespace: 'default' } : {}), ...(finalizers.length > 0 && { finalizers }) };
  return `---\n${JSON.stringify({ apiVersion: `${group}/${version}`, kind, metadata, spec })}\n`;
}

function scopeOf(resource: ResourceName): readonly [kind: string, name: string, namespace?: string] {
  const { group, plural, namespaced } = RESOURCES[resource];
  const kind = `${plural}.${group}`;
  return namespaced ? [kind, NAME, 'default'] : [kind, NAME];
}

/** Checks that the condition exists for the current generation. @returns the resourceVersion of the object */
async function untilReported(cluster: ScenarioCluster, resource: ResourceName): Promise<string> {
  return await cluster.eventually(`${resource} ${NAME} reports that it is not implemented`, async () => {
    const object = await cluster.get(...scopeOf(resource));
    const ready = conditionsOf(resource, object).find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'NotCarriedOut']);
    assert.match(
      ready?.message ?? '',
      new RegExp(`^${RESOURCES[resource].kind} (default/)?${NAME} is not implemented: .* does not implement `),
    );
    assert.equal(ready?.observedGeneration, object.metadata.generation);
    assert.deepEqual(object.metadata.finalizers ?? [], []);
    return object.metadata.resourceVersion;
  });
}

async function untilAllReported(cluster: ScenarioCluster): Promise<readonly string[]> {
  return await Promise.all(KINDS.map(async (resource) => `${resource} ${await untilReported(cluster, resource)}`));
}

async function versions(cluster: ScenarioCluster): Promise<readonly string[]> {
  return await Promise.all(
    KINDS.map(async (resource) => `${resource} ${(await cluster.get(...scopeOf(resource))).metadata.resourceVersion}`),
  );
}

export const unimplemented: readonly Scenario[] = [
  {
    name: 'a NetworkPolicy, an IptablesSnatRule and a SecurityGroup each get one Event that they are not implemented, and a restart does not repeat it',
    alone: true,
    run: async (cluster) => {
      await cluster.apply(namespaceYaml('unserved') + served);
      await warned(cluster, 'NetworkPolicy', 'deny', 'NotCarriedOut', /traffic that it should deny is still allowed/, 'unserved');
      await warned(cluster, 'IptablesSnatRule', 'unserved-snat', 'NotCarriedOut', /IptablesSnatRule/);
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
      assert.deepEqual(events.map(({ involvedObject, count = 1 }) => `${involvedObject.name} ${count}`).toSorted(), ['deny 1']);
      await cluster.removeAll(served + namespaceYaml('unserved'));
    },
  },
  {
    name: 'an object of every kind that is not implemented has a condition that reports it, which is written once, follows an edit, and delays no other object',
    alone: true,
    run: async (cluster) => {
      const kinds = UNIMPLEMENTED_KINDS.filter(({ resource }) => RESOURCES[resource].conditions !== 'none').map(({ resource }) => resource);
      assert.deepEqual(KINDS.toSorted(), kinds.toSorted(), 'every kind is here');
      const all = KINDS.map((resource) => manifestOf(resource, UNIMPLEMENTED_SPECS[resource]?.[0] ?? {})).join('');
      await cluster.apply(all);
      const first = await untilAllReported(cluster);
      await sleep(1_500);
      assert.deepEqual(await versions(cluster), first, 'no condition is written again');
      await cluster.apply(all);
      for (const resource of KINDS) {
        const [kind, name, namespace] = scopeOf(resource);
        await cluster.patch(kind, name, { spec: UNIMPLEMENTED_SPECS[resource]?.[1] ?? {} }, namespace);
      }
      const edited = await untilAllReported(cluster);
      await cluster.controller.stop();
      await cluster.startController().untilLogged('writing');
      await sleep(1_500);
      assert.deepEqual(await versions(cluster), edited, 'nor does a fresh controller');
      await cluster.kubectl(['delete', '--timeout=120s', '-f', '-'], all);
      for (const resource of KINDS) assert.equal(await cluster.find(...scopeOf(resource)), undefined, resource);
    },
  },
  {
    name: "H70 objects with Kube-OVN's finalizer are deleted, of every kind that Kube-OVN implements, and so are the EIPs, the Subnet with its own rows, and the Vpc: all of them go, and report what remains",
    alone: true,
    run: async (cluster) => {
      const finalizers = ['kubeovn.io/kube-ovn-controller'];
      const custom = (kind: string, name: string, spec: object): string =>
        `---\n${JSON.stringify({ apiVersion: 'kubeovn.io/v1', kind, metadata: { name, finalizers }, spec })}\n`;
      const kinds = KINDS.filter((resource) => RESOURCES[resource].group === 'kubeovn.io');
      const own = 'u2o-interconnection.h70.h70-net';
      const all =
        vpcYaml('h70') +
        subnetYaml('h70-net', { vpc: 'h70', cidrBlock: '10.170.0.0/24' }) +
        custom('IP', own, { subnet: 'h70-net', podName: own, namespace: 'default', v4IpAddress: '10.170.0.9', ipAddress: '10.170.0.9' }) +
        custom('OvnEip', 'h70-eip', { externalSubnet: 'h70-net' }) +
        custom('OvnFip', 'h70-fip', { ovnEip: 'h70-eip', ipName: 'web.shop' }) +
        kinds.map((resource) => manifestOf(resource, UNIMPLEMENTED_SPECS[resource]?.[0] ?? {}, finalizers)).join('');
      await cluster.apply(all);
      await cluster.eventually('the rule is marked with the address that it uses', async () => {
        const { labels } = (await cluster.get('ovn-fip', 'h70-fip')).metadata;
        return labels?.['ovn.kubernetes.io/eip_v4_ip'] !== undefined;
      });
      await cluster.eventually('its EIP names the rule', async () => {
        return JSON.stringify((await cluster.get('ovn-eip', 'h70-eip')).status ?? {}).includes('OvnFip h70-fip');
      });
      await cluster.deleteAll(all);
      for (const resource of kinds) {
        const [kind, name, namespace] = scopeOf(resource);
        await untilDeleted(cluster, kind, name, namespace);
      }
      for (const [kind, name] of [
        ['ovn-fip', 'h70-fip'],
        ['ovn-eip', 'h70-eip'],
        ['subnet', 'h70-net'],
        ['ip', own],
        ['vpc', 'h70'],
      ] as const)
        await untilDeleted(cluster, kind, name);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'h70'), []);
    },
  },
  {
    name: 'the API server rejects a VpcEgressGateway that breaks a CEL rule of its definition; one that does not know the rule lets the object report it',
    run: async (cluster) => {
      const yaml = manifestOf('vpc-egress-gateways', { externalSubnet: 'nowhere', policies: [{ snat: true }] });
      const refusal = await cluster.kubectl(['apply', '--validate=false', '-f', '-'], yaml).then(
        () => undefined,
        (error: unknown) => (error instanceof ProgramError ? error.stderr : Promise.reject(error as Error)),
      );
      if (refusal !== undefined) {
        assert.match(refusal, /a policy needs ipBlocks or subnets/);
        return;
      }
      const { reason, message } = await condition(cluster, 'veg', NAME, 'Validated', 'False', 'default');
      assert.equal(reason, 'Invalid');
      assert.match(message, /spec\.policies\[0\] .* a policy needs ipBlocks or subnets/);
      await cluster.patch('veg', NAME, { spec: { policies: [{ snat: true, ipBlocks: ['10.0.0.0/8'] }] } }, 'default');
      await condition(cluster, 'veg', NAME, 'Validated', 'True', 'default');
      await cluster.removeAll(yaml);
    },
  },
  {
    name: 'an Event names the fields of Subnets that are not implemented; all their other fields are in effect',
    run: async (cluster) => {
      const all =
        vpcYaml('fields') +
        subnetYaml('fields-net', { cidrBlock: '10.110.0.0/24', enableMulticastSnoop: true }) +
        subnetYaml('fields-nodes', { vpc: 'fields', cidrBlock: '10.111.0.0/24', nodeNetwork: 'default' });
      await cluster.apply(all);
      await warned(cluster, 'Subnet', 'fields-net', 'UnsupportedField', /enableMulticastSnoop/);
      await warned(cluster, 'Subnet', 'fields-nodes', 'UnsupportedField', /nodeNetwork/);
      await condition(cluster, 'subnet', 'fields-net', 'Ready', 'True');
      await cluster.removeAll(all);
    },
  },
];
