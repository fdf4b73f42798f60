/** What is written to objects of the API server: what differs from the outputs, once, with the uid of the object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeClient } from '../../kube/client/client.ts';
import { SILENT } from '../../runtime/log.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { Retries } from '../retries.ts';
import type { WrittenObject } from '../world/agent-table.ts';
import { NodeWorld } from '../world/node-world.ts';
import { StatusTarget } from './status-target.ts';
import { ObjectsTarget } from './objects-target.ts';

type Sent = readonly [plural: string, name: string, patch: unknown];

class Scene {
  readonly world = new NodeWorld();
  readonly clock = new ManualClock();
  readonly retries = new Retries(this.clock, this.world, () => undefined);
  readonly sent: Sent[] = [];
  isRefused = false;
  readonly #client = Object.fromEntries(
    ['mergePatch', 'strategicPatch'].map((method) => [
      method,
      ({ plural }: { readonly plural: string }, { name }: { readonly name: string }, patch: unknown): Promise<void> => {
        this.sent.push([plural, name, patch]);
        return this.isRefused ? Promise.reject(new Error('denied')) : Promise.resolve();
      },
    ]),
  ) as unknown as KubeClient;
  readonly options = {
    ...{ client: this.#client, node: 'n1', world: this.world, retries: this.retries, clock: this.clock, log: SILENT },
    wake: (): void => undefined,
  };

  observe(name: string, fields: Partial<WrittenObject>): void {
    this.world.nodes.set(name, { uid: `uid-${name}`, addresses: [], annotations: {}, labels: {}, conditions: {}, ...fields });
  }

  /** What one turn writes. */
  async turn(target: { flush(): boolean }): Promise<readonly Sent[]> {
    this.sent.length = 0;
    target.flush();
    await new Promise((resolve) => setImmediate(resolve));
    return [...this.sent];
  }
}

const CHASSIS = 'ovn.kubernetes.io/chassis';
const OLD = 'gone.provider-network.kubernetes.io/err_mesg';
const [READY, MTU, GONE] = ['ready', 'mtu', 'interface'].map((suffix) => `net1.provider-network.kubernetes.io/${suffix}`) as [
  string,
  string,
  string,
];

test('annotations and labels that differ are written, those of several rules together; others stay', async () => {
  const scene = new Scene();
  const target = new ObjectsTarget(scene.options);
  scene.observe('n1', { annotations: { theirs: 'stays', [OLD]: 'x' }, labels: { [READY]: 'true' } });
  const of = { kind: 'object-metadata', resource: 'nodes', name: 'n1' } as const;
  target.desired.add({ ...of, annotations: { [CHASSIS]: 'c1', [OLD]: null } });
  target.desired.add({ ...of, annotations: {}, labels: { [READY]: 'true', [MTU]: '1500', [GONE]: null } });
  const metadata = { uid: 'uid-n1', annotations: { [CHASSIS]: 'c1', [OLD]: null }, labels: { [MTU]: '1500' } };
  assert.deepEqual(await scene.turn(target), [['nodes', 'n1', { metadata }]]);

  scene.observe('n1', { annotations: { theirs: 'stays', [CHASSIS]: 'c1' }, labels: { [READY]: 'true', [MTU]: '1500' } });
  target.examineAll();
  assert.deepEqual(await scene.turn(target), [], 'as emitted');
  scene.world.nodes.delete('n1');
  target.examineAll();
  assert.deepEqual(await scene.turn(target), [], 'the object is gone');
});

test('what no record declares is not written, and nothing that is written goes with it', async () => {
  const scene = new Scene();
  const errors: unknown[] = [];
  const log = { ...SILENT, error: (...line: unknown[]) => void errors.push(line) };
  const [objects, status] = [new ObjectsTarget({ ...scene.options, log }), new StatusTarget({ ...scene.options, log })];
  scene.observe('n1', {});
  const of = { resource: 'nodes', name: 'n1' } as const;
  objects.desired.add({ kind: 'object-metadata', ...of, annotations: { 'other.io/x': '1' } });
  objects.desired.add({ kind: 'object-metadata', ...of, annotations: { [CHASSIS]: 'c1' } });
  status.desired.add({ kind: 'object-condition', ...of, type: 'Ready', status: 'True', reason: 'R', message: 'm' });
  assert.deepEqual(await scene.turn(objects), [['nodes', 'n1', { metadata: { uid: 'uid-n1', annotations: { [CHASSIS]: 'c1' } } }]]);
  assert.deepEqual(await scene.turn(status), []);
  assert.match(JSON.stringify(errors), /annotation other\.io\/x of nodes.*condition Ready of nodes/);
});

test('a condition is written when its contents change or another program changes it, and its time when its status does', async () => {
  const scene = new Scene();
  const target = new StatusTarget(scene.options);
  const condition = { type: 'NetworkUnavailable', status: 'False', reason: 'Fine', message: 'joined' } as const;
  target.desired.add({ kind: 'object-condition', resource: 'nodes', name: 'n1', ...condition });
  assert.deepEqual(await scene.turn(target), [], 'not observed yet');
  scene.observe('n1', {});
  const [[, , first] = []] = await scene.turn(target);
  const at = (patch: unknown): string =>
    (patch as { readonly status: { readonly conditions: readonly { readonly lastTransitionTime: string }[] } }).status.conditions[0]
      ?.lastTransitionTime ?? '';
  assert.match(JSON.stringify(first), /"uid":"uid-n1".*"status":"False","reason":"Fine","message":"joined"/);

  const observed = { ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' };
  scene.observe('n1', { conditions: { NetworkUnavailable: observed }, labels: { other: 'change' } });
  assert.deepEqual(await scene.turn(target), []);
  scene.observe('n1', { conditions: { NetworkUnavailable: { ...observed, message: 'edited' } } });
  const [[, , sameStatus] = []] = await scene.turn(target);
  assert.equal(at(sameStatus), observed.lastTransitionTime);
  scene.observe('n1', { conditions: { NetworkUnavailable: { ...observed, status: 'True' } } });
  const [[, , repaired] = []] = await scene.turn(target);
  assert.notEqual(at(repaired), observed.lastTransitionTime);
});

test('a write that failed waits, with its reason, and does not delay another object', async () => {
  const scene = new Scene();
  const target = new ObjectsTarget(scene.options);
  for (const name of ['n1', 'n2']) scene.observe(name, {});
  scene.isRefused = true;
  target.desired.add({ kind: 'object-metadata', resource: 'nodes', name: 'n1', annotations: { [CHASSIS]: '1' } });
  assert.equal((await scene.turn(target)).length, 1);
  assert.equal(scene.world.failures.peek('nodes/n1'), 'denied');
  scene.isRefused = false;
  target.desired.add({ kind: 'object-metadata', resource: 'nodes', name: 'n2', annotations: { [CHASSIS]: '1' } });
  assert.deepEqual(
    (await scene.turn(target)).map(([, name]) => name),
    ['n2'],
  );
  scene.clock.advance(60_000);
  assert.deepEqual(
    (await scene.turn(target)).map(([, name]) => name),
    ['n1'],
  );
  assert.equal(scene.world.failures.peek('nodes/n1'), undefined);
});
