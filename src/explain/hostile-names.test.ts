/**
 * Names and texts that only a malicious API server or tenant sends, through every rule: into conditions, Events, trees, findings and next
 * commands.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandAtEnd } from '../text/command-text.ts';
import { hostileText, unseenIn } from '../text/testing/hostile-text.ts';
import { ShellWithStubs } from '../text/testing/shell-with-stubs.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { ResourceName } from '../world/resources.ts';
import { outputText } from '../cli/output/terminal.ts';
import { explain } from './explanation.ts';
import { planLines } from './plan-text.ts';
import { statusOf } from './status.ts';
import { explanationLine, treeLines } from './tree-text.ts';

const KINDS: readonly ResourceName[] = [
  ...(['vpcs', 'subnets', 'ips', 'ippools', 'vips', 'pods', 'namespaces', 'nodes', 'ovn-eips', 'iptables-eips', 'ovn-fips'] as const),
  'network-attachment-definitions',
];

/** A small network with every kind of failure, and these texts as names and values. */
function scene([a = '', b = '', c = '']: readonly string[]): PodScene {
  const made = new PodScene();
  const { bench } = made;
  bench.put('nodes', { metadata: { name: a }, status: { addresses: [{ type: 'InternalIP', address: b }] } });
  bench.put('vpcs', { metadata: { name: a }, spec: { defaultSubnet: b, staticRoutes: [{ policy: c, cidr: a, nextHopIP: b }] } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: a, cidrBlock: '10.1.0.0/24', namespaces: [b], acls: [{ match: c }] } });
  bench.put('subnets', { metadata: { name: b }, spec: { vpc: c, cidrBlock: a } });
  bench.put('subnets', { metadata: { name: c }, spec: { vpc: a, cidrBlock: '10.2.0.0/24', excludeIps: [b], gatewayNode: c } });
  bench.put('ippools', { metadata: { name: a }, spec: { subnet: b, ips: [c] } });
  bench.put('vips', { metadata: { name: a }, spec: { subnet: b, namespace: c, v4ip: a } });
  bench.put('ips', { metadata: { name: c }, spec: { subnet: a, podName: b, namespace: c, ipAddress: a } });
  bench.put('ovn-eips', { metadata: { name: a }, spec: { externalSubnet: b, v4Ip: c } });
  bench.put('iptables-eips', { metadata: { name: b }, spec: { externalSubnet: c, natGwDp: a } });
  bench.put('ovn-fips', { metadata: { name: c }, spec: { ovnEip: a, ipName: b } });
  bench.put('network-attachment-definitions', { metadata: { name: a, namespace: 'shop' }, spec: { config: b } });
  bench.put('namespaces', { metadata: { name: 'shop', annotations: { 'ovn.kubernetes.io/logical_switch': a, 'kiln.io/misbound': b } } });
  for (const [index, annotations] of [
    { 'ovn.kubernetes.io/logical_switch': a },
    { 'ovn.kubernetes.io/ip_pool': b, 'ovn.kubernetes.io/ip_address': c },
    { 'ovn.kubernetes.io/vip': c },
    { 'k8s.v1.cni.cncf.io/networks': a, 'ovn.kubernetes.io/mac_address': b },
    { 'k8s.v1.cni.cncf.io/networks': `shop/${a}`, 'ovn.kubernetes.io/port_vips': b, 'ovn.kubernetes.io/dhcp-v4-options': c },
    { 'ovn.kubernetes.io/logical_switch': 'red', 'ovn.kubernetes.io/security_groups': a, 'ovn.kubernetes.io/routes': b },
  ].entries())
    bench.put('pods', { metadata: { name: `${a}${index}`, namespace: 'shop', annotations }, spec: { nodeName: a } });
  bench.converge();
  bench.delete('subnets', 'red');
  bench.delete('vpcs', a);
  // Any user with the right to edit an object can write any condition.
  const forged = [{ type: 'Ready', status: 'False', reason: b, message: `${c}; kubectl get vip ${a}`, lastTransitionTime: b }];
  bench.put('ips', {
    metadata: { name: b, annotations: { 'kiln.io/conditions': JSON.stringify(forged) } },
    spec: { subnet: 'ovn-default', podName: 'x', namespace: 'shop' },
  });
  bench.converge();
  return made;
}

test('hostile names are printed visibly and on lines of their own, and each offered command runs alone', async () => {
  await using shell = await ShellWithStubs.open();
  let commands = 0;
  const offered = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(hostileText(), { minLength: 3, maxLength: 3 }), async (texts) => {
      // OVSDB rejects both; Kiln checks for them earlier.
      const { bench } = scene(texts.map((text) => text.toWellFormed().replaceAll('\0', '')));
      const now = Date.parse('2026-01-01T01:00:00Z');
      const found: string[] = [];
      for (const resource of KINDS)
        for (const key of bench.keys(resource)) {
          const object = bench.object(resource, key);
          assert.ok(object);
          const explanation = explain(bench.world, resource, object, {
            limits: { children: 10 },
            rows: true,
            unimplemented: () => undefined,
          });
          const lines = treeLines(explanationLine(explanation, now), (_style, text) => text);
          for (const { painted } of lines) assert.equal(unseenIn(painted), undefined);
          found.push(...explanation.next);
          const { conditions = [] } = (object.status ?? {}) as { readonly conditions?: readonly { readonly message?: string }[] };
          for (const { message = '' } of conditions) {
            assert.equal(unseenIn(message), undefined);
            assert.ok(Buffer.byteLength(message) <= 4_096);
            found.push(...[commandAtEnd(message)].filter((one) => one !== undefined));
          }
        }
      const { findings } = statusOf(bench.world, true);
      assert.ok(findings.length > 3);
      found.push(...findings.map(({ next }) => next));
      const lines = findings.flatMap(({ what, message, next }) => [`${what} ${message}`, next]);
      const shown = outputText(lines);
      assert.equal(shown.split('\n').length, lines.length + 1);
      assert.equal(unseenIn(shown.replaceAll('\n', '')), undefined);
      const plan = planLines({
        rows: [],
        objects: [{ resource: 'vips', namespace: '', name: texts[0] ?? '', verb: 'delete', uid: '', events: [] }],
      });
      assert.equal(outputText(plan).split('\n').length, plan.length + 1);
      const fresh = [...new Set(found)].filter((one) => !offered.has(one));
      for (const one of fresh) offered.add(one);
      commands += (await shell.run(fresh)).length;
    }),
    { numRuns: 15 },
  );
  assert.ok(commands > 60, String(commands));
  assert.deepEqual(await shell.others(), []);
});
