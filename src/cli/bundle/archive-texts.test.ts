import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allKinds } from '../../api/kinds/crds.ts';
import type { SchemaNode } from '../../api/schema/schema.ts';
import { TABLES } from '../../nb/tables.ts';
import { tracesOf } from '../../runtime/testing/secret-traces.ts';
import type { ResourceName } from '../../world/resources.ts';
import { archivedColumns, archivedEvent, archivedLog, archivedObject, archivedOutput, SECRET_FIELDS } from './bundle-contents.ts';
import { archivedProse, archivedText, beginsAsOurs } from './archive-texts.ts';

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
    archivedProse('Subnet red: spec.cidr "10.0.0.0/24" overlaps "red"', names),
    'Subnet red: spec.cidr "10.0.0.0/24" overlaps "red"',
  );
  assert.equal(
    archivedProse(`Pod x: annotation "${SECRET}" is no address`, names),
    'Pod x: annotation "[text of 10 characters]" is no address',
  );
  for (const text of [
    `Pod x: "${SECRET}`,
    `Pod x: "a" ${SECRET} "b" is none`,
    `Pod x: "a"${SECRET}" is none`,
    `Pod x: "red" and "a" ${SECRET} "`,
  ])
    assert.ok(!archivedProse(text, names).includes(SECRET), archivedProse(text, names));
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

function fieldNames(node: SchemaNode): readonly string[] {
  const inner = [...Object.values(node.properties ?? {}), node.items, node.additionalProperties].filter((one) => one !== undefined);
  return [...Object.keys(node.properties ?? {}), ...inner.flatMap(fieldNames)];
}

test('the fields of schemas that hold a secret are named', () => {
  const all = allKinds.flatMap(({ spec, status }) => [...fieldNames(spec.node), ...(status === undefined ? [] : fieldNames(status.node))]);
  assert.ok(all.includes('password'));
  assert.deepEqual(
    [...new Set(all)].filter((name) => /passw|secret|token|credential|[a-z](?<!topology)Key$/.test(name) && !SECRET_FIELDS.has(name)),
    [],
  );
});

test('a match of OVN stays with the names that are known; what only resembles one does not', () => {
  const match = 'inport == "red" && ip4.src == 10.1.0.0/24 && tcp.dst == {80, 443}';
  assert.equal(archivedText(match, names), match);
  assert.equal(
    archivedText('outport == "hunter2" && ip4.dst == $hunter', names),
    'outport == "[text of 9 characters]" && ip4.dst == "[text of 7 characters]"',
  );
  for (const text of ['hunter2 == "red"', 'inport = hunter2', `inport == "red" // ${SECRET}`, `inport == "red" /* ${SECRET} */`])
    assert.equal(archivedText(text, names), `[text of ${text.length} characters]`);
});

test('of a log line the listed fields stay, and of what others say the words that are known', () => {
  assert.equal(
    archivedLog('{"level":"warn","msg":"write rejected","name":"web-7","error":"Pod shop/web-0: hunter2 is wrong","token":"x"}', names),
    '{"level":"warn","msg":"write rejected","name":"web-7","error":"Pod shop/web-0: [text of 7 characters] is wrong"}',
  );
  assert.equal(archivedProse('list pods: KUBE_DENIED at 10.0.0.1:6443', names), 'list pods: KUBE_DENIED at 10.0.0.1:6443');
  for (const text of [
    'password=hunter2',
    'x:hunter2',
    'hunter2@red',
    '"hunter2"',
    '{"a":"hunter2"}',
    'hunter2',
    '(hunter2)',
    `${SECRET} "x"`,
  ])
    assert.ok(!/hunter2|Zq7/.test(archivedProse(text, names)), archivedProse(text, names));
});

const CANARY = 'c4narY.hunter-Zq7';
const PLANTED: readonly string[] = [
  ...[CANARY, `client_secret ${CANARY}`, `the password "${CANARY}" was refused`, `config.secret["a"]="${CANARY}"`, `red,${CANARY}`],
  ...[`https://example.com/?access_token=${CANARY}&x=1`, `postgres://me:${CANARY}@db/x`, `[{"name":"DB_PASSWORD","value":"${CANARY}"}]`],
  ...[Buffer.from(`api_key: ${CANARY}`).toString('base64'), encodeURIComponent(`session_token="${CANARY}"`), `ip4.src == $a.${CANARY}`],
];

/** An object of the schema in which every text is the given one. */
function filled({ type, properties, items, additionalProperties }: SchemaNode, text: string): unknown {
  if (properties !== undefined) return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, filled(inner, text)]));
  if (items !== undefined) return [filled(items, text)];
  if (additionalProperties !== undefined) return { any: filled(additionalProperties, text) };
  return type === 'integer' || type === 'number' ? 7 : type === 'boolean' ? true : text;
}

test('a secret in any field of any kind, in any annotation, label and column of a row is not in the archive', () => {
  const withoutTraces = (value: unknown, where: string): void => {
    const archive = JSON.stringify(value);
    for (const trace of tracesOf(CANARY)) assert.ok(!archive.includes(trace), `${where}: ${trace} is in ${archive}`);
  };
  for (const text of PLANTED) {
    const annotations = Object.fromEntries(
      ['a/b', 'ovn.kubernetes.io/routes', 'ovn.kubernetes.io/ip_address', 'k8s.v1.cni.cncf.io/networks', 'kiln.io/conditions'].map(
        (key) => [key, text],
      ),
    );
    const metadata = { name: 'red', annotations, labels: { 'a/b': text, 'app.kubernetes.io/name': text }, managedFields: [text] };
    for (const { plural, spec, status } of allKinds) {
      const object = {
        metadata,
        spec: filled(spec.node, text),
        ...(status === undefined ? {} : { status: filled(status.node, text) }),
        data: text,
      };
      withoutTraces(archivedObject(plural as ResourceName, object, names), plural);
    }
    for (const { table, columns } of TABLES)
      for (const isOwn of [true, false]) {
        const row = Object.fromEntries(Object.keys(columns).flatMap((name) => [[name, text] as const]));
        const maps = Object.fromEntries(
          Object.keys(columns).map((name) => [
            name,
            new Map([
              ['lsp', text],
              ['a:b', text],
            ]),
          ]),
        );
        for (const one of [row, maps]) withoutTraces(archivedColumns(one, columns, isOwn, names), table);
      }
    withoutTraces(archivedOutput({ a: [text, { message: `Pod shop/web-0: ${text} is wrong`, why: `said ${text}` }] }, names), 'output');
    withoutTraces(archivedLog(`{"msg":"x","error":${JSON.stringify(text)}}\nError: ${text}\n${text}`, names), 'log');
  }
});
