/** Each ineffective field is reported: on the object, by `kiln explain` and by `kiln status`. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { kiln } from './operator-commands.ts';
import { condition, custom, namespaceYaml, podYaml, running, subnetYaml, tenantYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const SET = `---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: h91, annotations: {ovn.kubernetes.io/ip_pool: "10.191.0.20,10.191.0.21"}}
spec:
  replicas: 1
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers: [{name: main, image: busybox}]}
`;

const DEPLOYMENT = SET.replace('kind: StatefulSet', 'kind: Deployment')
  .replace('name: db', 'name: web-set')
  .replace('  serviceName: db\n', '')
  .replace('replicas: 1', 'replicas: 0');

export const ineffective: readonly Scenario[] = [
  {
    name: 'conditions report annotations without effect: a misspelt key, a Vip that leaves the pod out, an IPPool on a StatefulSet, a Deployment and a Subnet themselves',
    run: async (cluster) => {
      const tenant = tenantYaml('h91', '10.191.0.0/24');
      const vip = custom('Vip', 'h91-vip', { subnet: 'h91-net', namespace: 'h91', selector: ['app:other'] });
      await cluster.apply(tenant);
      await condition(cluster, 'subnet', 'h91-net', 'Ready', 'True');
      await cluster.apply(vip + SET);
      await cluster.apply(
        podYaml('h91', 'web', { annotations: { 'ovn.kubernetes.io/ip_adress': '10.191.0.9', 'ovn.kubernetes.io/aaps': 'h91-vip' } }),
      );
      await running(cluster, 'h91', 'web');
      await cluster.eventually('conditions report both', async () => {
        const { message } = await condition(cluster, 'pod', 'web', 'kiln.io/WithoutEffect', 'True', 'h91');
        assert.match(message, /\[ovn\.kubernetes\.io\/ip_adress\] .* the nearest key that is read is ovn\.kubernetes\.io\/ip_address/);
        return message.includes('names Vip h91-vip, which leaves the pod out');
      });
      await cluster.eventually('an Event on the StatefulSet', async () =>
        (await cluster.events('StatefulSet', 'db', 'h91')).some(
          ({ reason, message }) => reason === 'AnnotationUnread' && message.includes('write it into spec.template.metadata.annotations'),
        ),
      );
      const listed = (await kiln(cluster, 'status', '-n', 'h91', '-o', 'name')).text;
      for (const one of ['pod/h91/web', 'statefulset.apps/h91/db']) assert.ok(listed.split('\n').includes(one), listed);
      assert.match(
        (await kiln(cluster, 'explain', 'statefulset', 'db', '-n', 'h91')).text,
        /\nnote: {2}without effect: StatefulSet h91\/db: /,
      );
      await cluster.apply(DEPLOYMENT);
      assert.match(
        (await kiln(cluster, 'explain', 'deployment', 'web-set', '-n', 'h91')).text,
        /\nnote: {2}without effect: Deployment h91\/web-set: .*ip_pool\] .*write it into spec\.template\.metadata\.annotations/,
      );
      await cluster.kubectl(['annotate', 'subnet', 'h91-net', 'ovn.kubernetes.io/ip_pool=few']);
      const wrong = await condition(cluster, 'subnet', 'h91-net', 'WithoutEffect', 'True');
      assert.match(wrong.message, /ip_pool\] "few" is read by no program; it is read on pods/);
      assert.ok((await kiln(cluster, 'status', '-o', 'name')).text.split('\n').includes('subnet.kubeovn.io/h91-net'));
      await cluster.kubectl(['label', 'pod', 'web', '-n', 'h91', 'app=other']);
      await cluster.kubectl(['annotate', 'pod', 'web', '-n', 'h91', 'ovn.kubernetes.io/ip_adress-']);
      await cluster.eventually('the condition is gone', async () => {
        const conditions =
          ((await cluster.get('pod', 'web', 'h91')).status as { readonly conditions?: readonly { readonly type: string }[] })?.conditions ??
          [];
        return conditions.every(({ type }) => type !== 'kiln.io/WithoutEffect');
      });
      await cluster.removeAll(vip + SET + DEPLOYMENT + tenant);
    },
  },
  {
    name: 'conditions report: an underlay Subnet without its Vlan, a Vip named as a port of a pod, an IPPool for a namespace in another Subnet',
    run: async (cluster) => {
      const tenant = tenantYaml('h92', '10.192.0.0/24') + namespaceYaml('h92-under');
      const under = subnetYaml('h92-under', { cidrBlock: '10.193.0.0/24', vlan: 'h92-vlan', namespaces: ['h92-under'] });
      await cluster.apply(tenant + under);
      await condition(cluster, 'subnet', 'h92-net', 'Ready', 'True');
      const bare = await condition(cluster, 'subnet', 'h92-under', 'Ready', 'False');
      assert.match(bare.message, /spec\.vlan "h92-vlan" names a Vlan that does not exist/);
      await cluster.apply(podYaml('h92', 'web') + podYaml('h92-under', 'waits'));
      await running(cluster, 'h92', 'web');
      // Creation times are whole seconds: of two objects of one second the uid decides which one has the port.
      await sleep(1_100);
      const pool = custom('IPPool', 'h92-pool', { subnet: 'h92-under', ips: ['10.193.0.20'], namespaces: ['h92'] });
      const vip = custom('Vip', 'web.h92', { subnet: 'h92-net', namespace: 'h92' });
      await cluster.apply(pool + vip);
      assert.match((await condition(cluster, 'pod', 'waits', 'kiln.io/NetworkBound', 'False', 'h92-under')).message, /h92-vlan/);
      assert.equal((await condition(cluster, 'vip', 'web.h92', 'Accepted', 'False')).reason, 'RowConflict');
      assert.equal((await condition(cluster, 'ippool', 'h92-pool', 'WithoutEffect', 'True')).reason, 'PoolOutsideNamespace');
      const all = (await kiln(cluster, 'status', '-o', 'name')).text.split('\n');
      for (const one of ['subnet.kubeovn.io/h92-under', 'pod/h92-under/waits', 'vip.kubeovn.io/web.h92', 'ippool.kubeovn.io/h92-pool'])
        assert.ok(all.includes(one), `${one}: ${all.join(' ')}`);
      await cluster.removeAll(pool + vip);
      await cluster.removeAll(tenant + under);
    },
  },
  {
    name: 'a match with an address set of the other family, or of an IPPool that has none: the object names the right set',
    run: async (cluster) => {
      const tenant = tenantYaml('h94', '10.194.0.0/24,fd00:194::/64');
      await cluster.apply(tenant);
      await condition(cluster, 'subnet', 'h94-net', 'Ready', 'True');
      const pool = (name: string, spec: object): string => custom('IPPool', name, { subnet: 'h94-net', ...spec });
      const pools =
        pool('h94-pool', { ips: ['10.194.0.40', 'fd00:194::40'], enableAddressSet: true }) + pool('bare', { ips: ['10.194.0.50'] });
      await cluster.apply(pools);
      for (const name of ['h94-pool', 'bare']) await condition(cluster, 'ippool', name, 'Ready', 'True');
      const withMatches = (acl: string, policy: string): string =>
        vpcYaml('h94', { policyRoutes: [{ action: 'drop', match: policy, priority: 7 }] }) +
        subnetYaml('h94-net', {
          vpc: 'h94',
          cidrBlock: '10.194.0.0/24,fd00:194::/64',
          namespaces: ['h94'],
          acls: [{ direction: 'to-lport', action: 'drop', match: acl, priority: 5 }],
        });
      await cluster.apply(withMatches('ip4.src == $h94.pool_v6', 'ip4.src == $bare'));
      const acl = await condition(cluster, 'subnet', 'h94-net', 'WithoutEffect', 'True');
      assert.equal(acl.reason, 'AddressSetOtherFamily');
      assert.match(acl.message, /spec\.acls\[0\]\.match .*\$h94\.pool_v6, which has IPv6 addresses; .*: name address set \$h94\.pool\. /);
      const policy = await condition(cluster, 'vpc', 'h94', 'WithoutEffect', 'True');
      assert.equal(policy.reason, 'AddressSetMissing');
      assert.match(policy.message, /IPPool bare has an address set only with spec\.enableAddressSet \(kubectl edit ippool bare\)/);
      const listed = (await kiln(cluster, 'status', '-o', 'name')).text.split('\n');
      for (const one of ['subnet.kubeovn.io/h94-net', 'vpc.kubeovn.io/h94']) assert.ok(listed.includes(one), listed.join(' '));
      await cluster.apply(withMatches('ip4.src == $h94.pool', 'ip4.src == $h94.pool && ip6.dst == $h94.pool_v6'));
      for (const [kind, name] of [
        ['subnet', 'h94-net'],
        ['vpc', 'h94'],
      ] as const)
        await cluster.eventually(`${kind} ${name} has no such condition`, async () => {
          const { conditions = [] } = (await cluster.get(kind, name)).status as {
            readonly conditions?: readonly { readonly type: string }[];
          };
          return conditions.every(({ type }) => type !== 'WithoutEffect');
        });
      await cluster.removeAll(pools);
      await cluster.removeAll(tenant);
    },
  },
];
