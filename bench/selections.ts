/**
 * What policies over many pods cost: the benchmark's own rules emit an address set for each policy, with the pods that its selector
 * selects. The engine alone, without a database: runs of rules and queries, members compared, time. And the cost of a draining Subnet for
 * each released address.
 */
import { blockersOf } from '../src/blockers/blockers.ts';
import type { Rule } from '../src/compile/rule.ts';
import { Compiler } from '../src/engine/compiler.ts';
import { Desired } from '../src/compile/desired.ts';
import type { RowOwner } from '../src/compile/output.ts';
import { RULES } from '../src/compile/rules.ts';
import { rowId } from '../src/nb/row-id.ts';
import { keysOf } from '../src/engine/domain.ts';
import { internLabels, labelSetOf } from '../src/world/label-set.ts';
import { Computed } from '../src/engine/reactor.ts';
import { selectorText } from '../src/world/selections/selector.ts';
import { defineView } from '../src/world/selections/view.ts';
import { DEFAULT_SETTINGS } from '../src/world/settings.ts';
import { World } from '../src/world/world.ts';
import type { BenchRow } from './row.ts';

export interface SelectionsOptions {
  readonly pods: readonly number[];
  readonly policies: readonly number[];
  readonly addresses: readonly number[];
}

const CREATED = '2026-01-01T00:00:00Z';
const owner: RowOwner = { kind: 'vpc', namespace: '', name: 'v', uid: 'uid-v', created: CREATED };
/** The most pods of one Deployment: this many have equal labels. */
const EQUAL = 500;

const addresses = defineView(
  'bench-addresses',
  (world) => keysOf(world.pods),
  (world, pod) => {
    const { namespace = '', labels, annotations } = world.pods.get(pod)?.metadata ?? {};
    return { labelSet: labelSetOf(namespace, labels), members: [annotations?.['address'] ?? ''] };
  },
);

/**
 * Vpcs stand for policies; an annotation has the label that they select. Each selects all pods by a label of its own, so that no two share
 * a selection.
 */
const policy: Rule = {
  name: 'policy',
  over: (world) => keysOf(world.vpcs),
  run: (world, key) => {
    const row = rowId('Address_Set', key);
    const app = world.vpcs.get(key)?.metadata.annotations?.['app'] ?? '';
    const matchExpressions = [
      { key: 'team', operator: 'In', values: [app] },
      { key: 'policy', operator: 'NotIn', values: [key] },
    ];
    return [
      { kind: 'row', id: row, owner, rule: 'policy', columns: { name: key, addresses: [] } },
      {
        kind: 'selection',
        row,
        column: 'addresses',
        selector: selectorText({ namespaces: 'shop', pods: { matchExpressions } }),
        view: addresses,
      },
    ];
  },
};

export function selections({ pods, policies, addresses: drained }: SelectionsOptions): readonly BenchRow[] {
  const rows: BenchRow[] = [];
  for (const many of pods) for (const selecting of policies) rows.push(...measured(many, selecting));
  for (const count of drained) rows.push(...drain(count));
  return rows;
}

function putPod(world: World, number: number, team = 'all'): void {
  const name = `web-${number}`;
  const labels = internLabels({ app: `web-${Math.floor(number / EQUAL)}`, team });
  const annotations = { address: `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}` };
  const metadata = { name, namespace: 'shop', uid: name, resourceVersion: '1', creationTimestamp: CREATED, labels, annotations };
  world.pods.set(`shop/${name}`, { apiVersion: 'v1', kind: 'Pod', metadata, spec: {} });
}

function putPolicy(world: World, name: string, app: string): void {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: CREATED, annotations: { app } };
  world.vpcs.set(name, { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata, spec: {} });
}

function measured(pods: number, policies: number): readonly BenchRow[] {
  const world = new World(DEFAULT_SETTINGS);
  const desired = new Desired(world);
  void new Compiler(world, desired, [policy], ({ error }) => {
    throw error;
  });
  const { dueRows, dueMembers, dueSelections } = desired.rows;
  const { reactor } = world;
  const before = process.memoryUsage().heapUsed;
  for (let number = 0; number < pods; number++) putPod(world, number);
  const begun = performance.now();
  for (let number = 0; number < policies; number++) putPolicy(world, `policy-${number}`, 'all');
  reactor.runDue();
  const start = performance.now() - begun;
  const heap = (process.memoryUsage().heapUsed - before) / 1e6;
  const name = `${pods} pods, ${policies} policies`;
  const change = (what: string, run: () => void): BenchRow[] => {
    for (const due of [dueRows, dueMembers, dueSelections]) due.clear();
    const [runs, from] = [reactor.runs, performance.now()];
    run();
    reactor.runDue();
    const ms = performance.now() - from;
    const compared = [...dueMembers.values()].reduce((sum, { size }) => sum + size, 0);
    return [
      { name: `${name}: ${what}: runs of rules and queries`, value: reactor.runs - runs, unit: '' },
      { name: `${name}: ${what}: members to compare`, value: compared, unit: '' },
      { name: `${name}: ${what}: time`, value: ms, unit: 'ms' },
    ];
  };
  return [
    { name: `${name}: start`, value: start, unit: 'ms' },
    { name: `${name}: heap, pods included`, value: heap, unit: 'MB' },
    ...change('one pod comes', () => putPod(world, pods)),
    ...change("one pod's label changes", () => putPod(world, pods, 'none')),
    ...change('one policy is edited', () => putPolicy(world, 'policy-0', 'none')),
    ...change('one policy that selects nothing comes', () => putPolicy(world, 'policy-new', 'nothing')),
  ];
}

/** A Subnet being deleted: its blockers are read again after each released address. */
function drain(count: number): readonly BenchRow[] {
  if (RULES.length === 0) throw new Error('the rules define queries that the blockers ask');
  const world = new World(DEFAULT_SETTINGS);
  for (let number = 0; number < count; number++) {
    const name = `web-${number}.shop`;
    const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: CREATED };
    world.ips.set(name, { apiVersion: 'kubeovn.io/v1', kind: 'IP', metadata, spec: { subnet: 'red', v4IpAddress: '10.0.0.9' } });
  }
  const blockers = new Computed(world.reactor, () => blockersOf(world, 'subnets', 'red'));
  blockers.get();
  const most = Math.min(1_000, count - 1);
  const [runs, from] = [world.reactor.runs, performance.now()];
  for (let number = 0; number < most; number++) {
    world.ips.delete(`web-${number}.shop`);
    world.reactor.runDue();
    blockers.get();
  }
  const ms = (performance.now() - from) / most;
  const name = `${count} addresses of a Subnet that drains, one goes`;
  return [
    { name: `${name}: runs of rules and queries`, value: (world.reactor.runs - runs) / most, unit: '' },
    { name: `${name}: time`, value: ms, unit: 'ms' },
  ];
}
