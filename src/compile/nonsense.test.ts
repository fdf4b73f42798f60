/**
 * Every field of every implemented kind, with texts and numbers that make no sense. If the result is the same as without the field, Kiln
 * ignored it silently, and the test fails.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipPoolKind } from '../api/kinds/ip-pool.ts';
import { ipKind } from '../api/kinds/ip.ts';
import { iptablesEipKind } from '../api/kinds/iptables-eip.ts';
import type { Kind } from '../api/schema/kind.ts';
import { ovnEipKind } from '../api/kinds/ovn-eip.ts';
import { subnetKind } from '../api/kinds/subnet.ts';
import { vipKind } from '../api/kinds/vip.ts';
import { vpcKind } from '../api/kinds/vpc.ts';
import { TABLES } from '../nb/tables.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { ResourceName } from '../world/resources.ts';

/** Fields that differ between any two objects or times. */
const PASSING: ReadonlySet<string> = new Set([
  'resourceVersion',
  'generation',
  'observedGeneration',
  'lastUpdateTime',
  'uid',
  'creationTimestamp',
]);
const TEXTS = ['nonsense', 'no such', 'x'.repeat(300)];
const NUMBERS = [-1, 2_147_483_647];
/** Fields that depend on another one of the same object, which is off here; they are reported together with it. */
const WITH_ANOTHER: ReadonlySet<string> = new Set(['vpcs.bfdPort.ip', 'vpcs.bfdPort.nodeSelector']);

interface Example {
  readonly kind: Kind<unknown, unknown>;
  readonly name: string;
  readonly base: Readonly<Record<string, unknown>>;
}

const EXAMPLES: Readonly<Partial<Record<ResourceName, Example>>> = {
  vpcs: { kind: vpcKind, name: 'one', base: {} },
  subnets: { kind: subnetKind, name: 'one', base: { vpc: 'blue', cidrBlock: '10.110.0.0/24,fd10::/64' } },
  ips: { kind: ipKind, name: 'kept.shop', base: { subnet: 'net', podName: 'kept', namespace: 'shop' } },
  ippools: { kind: ipPoolKind, name: 'one', base: { subnet: 'net', ips: ['10.1.0.20..10.1.0.30'] } },
  vips: { kind: vipKind, name: 'one', base: { subnet: 'net' } },
  'ovn-eips': { kind: ovnEipKind, name: 'one', base: { externalSubnet: 'net' } },
  'iptables-eips': { kind: iptablesEipKind, name: 'one', base: { externalSubnet: 'net', natGwDp: 'gw' } },
};

interface Node {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Node;
  readonly properties?: Readonly<Record<string, Node>>;
}

/** Values that the CRD permits and that make no sense, each with its path. */
function nonsense(node: Node, path: string): readonly (readonly [path: string, value: unknown])[] {
  if (node.enum !== undefined) return [];
  switch (node.type) {
    case 'string':
      return TEXTS.map((value) => [path, value]);
    case 'integer':
      return NUMBERS.map((value) => [path, value]);
    case 'array':
      return node.items === undefined ? [] : nonsense(node.items, path).map(([inner, value]) => [inner, [value]]);
    case 'object':
      return Object.entries(node.properties ?? {}).flatMap(([name, property]) =>
        nonsense(property, `${path}.${name}`).map(([inner, value]) => [inner, { [name]: value }] as const),
      );
    default:
      return [];
  }
}

/** The whole result, except for the field itself. */
function outcome(resource: ResourceName, { name, base }: Example, field: string, value: unknown): string {
  const { [field]: left, ...others } = base;
  void left;
  const { bench } = ground();
  bench.put(resource, { metadata: { name }, spec: value === undefined ? others : { ...others, [field]: value } });
  bench.converge();
  const rows = TABLES.filter(({ table }) => table !== 'NB_Global').map(({ table }) =>
    bench.rowIds(table).map((id) => [id, bench.row(table, id)]),
  );
  const objects = (
    ['vpcs', 'subnets', 'ips', 'ippools', 'vips', 'ovn-eips', 'iptables-eips', 'pods', 'namespaces', 'nodes'] as const
  ).flatMap((kind) =>
    bench.keys(kind).map((key) => {
      const { metadata, spec, status } = bench.object(kind, key) ?? {};
      const { [field]: own, ...rest } = spec ?? {};
      return [kind, key, metadata, kind === resource && key === name ? rest : { ...rest, own }, status];
    }),
  );
  const text = JSON.stringify([rows, objects, bench.events], (key, one: unknown) =>
    PASSING.has(key) ? undefined : typeof one === 'bigint' ? String(one) : one,
  );
  return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '');
}

function ground(): PodScene {
  const made = new PodScene();
  made.bench.put('vpcs', { metadata: { name: 'blue' } });
  made.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24,fd01::/64', namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

for (const [resource, example] of Object.entries(EXAMPLES) as [ResourceName, Example][])
  test(`${example.kind.kind}: a field with a senseless value is never ignored silently`, () => {
    const silent: string[] = [];
    let tried = 0;
    for (const [field, node] of Object.entries(example.kind.spec.node.properties ?? {})) {
      const without = outcome(resource, example, field, undefined);
      for (const [path, value] of nonsense(node, `${resource}.${field}`)) {
        if (WITH_ANOTHER.has(path) || path.startsWith('vpcs.bfdPort.nodeSelector.')) continue;
        tried++;
        if (outcome(resource, example, field, value) === without) silent.push(`${path} ${JSON.stringify(value).slice(0, 60)}`);
      }
    }
    assert.ok(tried >= 6);
    assert.deepEqual(silent, []);
  });
