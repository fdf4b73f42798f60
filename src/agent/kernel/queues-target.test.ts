/** Queues of devices: one that is lost is told and made anew by its row, and one that the kernel has not is told alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENT } from '../../runtime/log.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { Changes } from '../listing/changes.ts';
import { Retries } from '../retries.ts';
import type { DeviceName } from '../world/attachment.ts';
import { NodeWorld } from '../world/node-world.ts';
import type { QueueOutput } from '../world/outputs.ts';
import type { Programs } from './programs.ts';
import { QueuesTarget } from './queues-target.ts';

const DEVICE = 'c0ffee_h' as DeviceName;
const QUEUE: QueueOutput = { kind: 'queue', name: DEVICE, discipline: 'htb', pod: 'shop/web' };
const ID = `queue of ${DEVICE}`;

class Scene {
  readonly clock = new ManualClock();
  readonly world = new NodeWorld();
  /** As the kernel has it. */
  discipline = 'htb';
  lists = 0;
  readonly target: QueuesTarget;

  constructor() {
    const { clock, world } = this;
    const run = (): ReturnType<Programs['run']> => {
      this.lists += 1;
      return Promise.resolve({ ok: true, output: JSON.stringify([{ ifname: DEVICE, qdisc: this.discipline }]) });
    };
    const programs: Programs = { run, converse: () => assert.fail(), sleep: () => Promise.resolve(), watch: () => () => undefined };
    const changes = new Changes({ programs, clock, log: SILENT });
    const retries = new Retries(clock, world, () => {});
    this.target = new QueuesTarget({ world, programs, retries, changes, clock, log: SILENT, wake: () => {} });
    this.target.start();
  }

  port(queue?: string): void {
    this.world.ports.set(DEVICE, { externalIds: {}, error: '', ...(queue === undefined ? {} : { queue }) });
  }

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.advance(500);
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  get told(): string {
    return this.world.failures.peek(ID) ?? '';
  }
}

test('without limits no program is run', async () => {
  const scene = new Scene();
  await scene.pass(60_000);
  assert.equal(scene.lists, 0);
});

test('a queue that another program takes away: told, its row is lost, and nothing is told once the next one has it', async () => {
  const scene = new Scene();
  const { world, target } = scene;
  scene.port('row-1');
  target.desired.add(QUEUE);
  await scene.pass(20_000);
  assert.deepEqual([scene.told, world.lostQueues.peek(DEVICE)], ['', undefined]);
  scene.discipline = 'noqueue';
  await scene.pass(15_000);
  assert.match(scene.told, /device c0ffee_h of pod shop\/web has no queue of htb \(it has noqueue\).*another program took it away/);
  assert.equal(world.lostQueues.peek(DEVICE), 'row-1');
  scene.port();
  await scene.pass(10_000);
  scene.port('row-2');
  scene.discipline = 'htb';
  await scene.pass(10_000);
  assert.deepEqual([scene.told, world.lostQueues.peek(DEVICE)], ['', undefined]);
});

test('a queue that the kernel does not have is asked for twice, and then told for good, until the annotations go', async () => {
  const scene = new Scene();
  const { world, target } = scene;
  scene.discipline = 'noqueue';
  target.desired.add({ ...QUEUE, discipline: 'netem' });
  const lost: (string | undefined)[] = [];
  for (const row of ['row-1', 'row-2', 'row-3', 'row-4']) {
    scene.port(row);
    await scene.pass(20_000);
    lost.push(world.lostQueues.peek(DEVICE));
  }
  assert.deepEqual(lost, ['row-1', 'row-2', 'row-2', 'row-2']);
  assert.match(scene.told, /has no queue of netem .*modprobe sch_netem; otherwise take the annotations away/);
  target.desired.remove(target.desired.of(DEVICE)[0] as QueueOutput);
  target.flush();
  assert.deepEqual([scene.told, [...world.lostQueues.keys()]], ['', []]);
});
