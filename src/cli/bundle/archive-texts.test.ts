import assert from 'node:assert/strict';
import { test } from 'node:test';
import { archivedEvent, archivedObject } from './bundle-contents.ts';
import { beginsAsOurs, archivedMessage, archivedText } from './archive-texts.ts';

const SECRET = 'hunter Zq7';
const names: ReadonlySet<string> = new Set(['red', 'shop', 'web-0', 'net', 'a.b']);

test('addresses, networks, ranges, MACs, numbers, dates, known names and lists of them stay; any other text is its length', () => {
  for (const text of [
    ...['10.0.0.1', '10.0.0.1,fd00::1', '10.0.0.0/24', '10.0.0.1..10.0.0.9', '0a:00:00:00:00:01', 'true', '', '12', '24h', '1h30m'],
    ...[
      'red',
      'red,net',
      'shop/net',
      'net.shop.ovn',
      'web-0.shop',
      'a.b.shop',
      '6f1c0d2e-9d3b-4f57-8a3e-0c6a9f1e2b11',
      '2026-01-01T00:00:00Z',
    ],
    ...['[{"dst":"10.0.0.0/8","gw":"10.0.0.1"}]', '["10.0.0.1"]', 'veth-pair'],
  ])
    assert.equal(archivedText(text, names), text);
  for (const text of [
    ...[
      'password ZqA01secret',
      'hunter2',
      'red hunter2',
      'shop/hunter2',
      'hunter2.shop',
      '[{"dst":"hunter2"}]',
      '{"hunter 2":"10.0.0.1"}',
      '[broken',
    ],
    ...['1'.repeat(11), '10.0.0.1 '.repeat(1_000), '["[\\"hunter2\\"]"]'],
  ])
    assert.equal(archivedText(text, names), `[text of ${text.length} characters]`);
});

test("of a sentence, what a user wrote within quotes is removed; a quote of the user's own opens no way around", () => {
  assert.equal(
    archivedMessage('Subnet red: spec.cidr "10.0.0.0/24" overlaps "red"', names),
    'Subnet red: spec.cidr "10.0.0.0/24" overlaps "red"',
  );
  assert.equal(
    archivedMessage(`Pod x: annotation "${SECRET}" is no address`, names),
    'Pod x: annotation "[text of 10 characters]" is no address',
  );
  for (const text of [
    `Pod x: "${SECRET}`,
    `Pod x: "a" ${SECRET} "b" is none`,
    `Pod x: "a"${SECRET}" is none`,
    `Pod x: "red" and "a" ${SECRET} "`,
  ])
    assert.ok(!archivedMessage(text, names).includes(SECRET), archivedMessage(text, names));
  assert.ok(beginsAsOurs('Pod shop/web-0 waits') && beginsAsOurs('Logical_Switch red was deleted') && !beginsAsOurs('Podium x'));
});

test('an Event that Kiln does not write is left out, and one that does not begin as its sentences do is without its text', () => {
  const event = {
    source: { component: 'kiln-controller' },
    reason: 'WaitingForSubnet',
    message: `Pod shop/web-0: "${SECRET}" is no Subnet`,
  };
  assert.equal(archivedEvent(event, names)?.['message'], 'Pod shop/web-0: "[text of 10 characters]" is no Subnet');
  assert.equal(archivedEvent({ ...event, message: SECRET }, names)?.['message'], '[text of 10 characters]');
  assert.equal(archivedEvent({ ...event, reason: 'Any' }, names), undefined);
  assert.equal(archivedEvent({ ...event, source: { component: 'kube-ovn-controller' } }, names), undefined);
  const asKubeOvn = { ...event, source: { component: 'kube-ovn-controller' }, reason: 'AcquireAddressFailed' };
  const archived = archivedEvent({ ...asKubeOvn, message: `NoAvailableAddress: Pod shop/web-0: "${SECRET}"` }, names);
  assert.equal(archived?.['message'], 'NoAvailableAddress: Pod shop/web-0: "[text of 10 characters]"');
  assert.equal(archivedEvent({ ...event, reason: 'AcquireAddressFailed' }, names), undefined);
  assert.ok(!JSON.stringify(archivedEvent({ ...event, reportingComponent: SECRET }, names)).includes(SECRET));
});

test('annotations of any provider, networks, labels and conditions keep no text of their own', () => {
  const conditions = [
    { type: 'kiln.io/NetworkBound', status: 'False', reason: 'InvalidAnnotation', message: `Pod x: "${SECRET}" is no address` },
    { type: 'Ready', status: 'False', reason: SECRET, message: SECRET },
  ];
  const annotations = {
    'ovn.kubernetes.io/ip_address': SECRET,
    'any.kubernetes.io/ip_address': SECRET,
    'ovn.kubernetes.io/logical_switch': 'red',
    'kiln.io/conditions': JSON.stringify(conditions),
    'k8s.v1.cni.cncf.io/networks': JSON.stringify([{ name: 'net', namespace: SECRET, ips: [SECRET] }]),
  };
  const kept = JSON.stringify(
    archivedObject(
      'pods',
      { metadata: { name: 'web-0', annotations, labels: { 'app.kubernetes.io/name': SECRET } }, status: { conditions } },
      names,
    ),
  );
  assert.ok(!kept.includes(SECRET), kept);
  assert.match(kept, /"ovn\.kubernetes\.io\/logical_switch":"red"/);
  assert.match(kept, /Pod x: \\"\[text of 10 characters\]\\" is no address/);
});
