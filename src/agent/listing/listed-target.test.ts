/** The life of a target that is listed: compare, write, list again, and what must not happen between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Ran } from '../kernel/ran.ts';
import { Retries } from '../retries.ts';
import { NodeWorld } from '../world/node-world.ts';
import { Changes, type Listing } from './changes.ts';
import { ListedTarget } from './listed-target.ts';

interface Wish {
  readonly kind: 'wish';
  readonly word: string;
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const IDLE: Programs = {
  run: () => assert.fail(),
  converse: () => assert.fail(),
  sleep: () => Promise.resolve(),
  watch: () => () => undefined,
};

/** A system of one word. */
class Word extends ListedTarget<Wish, string, string> {
  readonly name = 'the word';
  readonly desired = new KeyedOutputs<Wish>(['wish'], () => 'word');
  protected readonly concerns: Listing['concerns'] = () => true;
  present = 'old';
  answer: (word: string) => Promise<Ran> | Ran = (word) => ((this.present = word), { ok: true, output: '' });
  /** Before a list ends. */
  slowly: Promise<void> = Promise.resolve();
  lists = 0;
  writes = 0;
  isOutdated = false;

  protected override outdated(isOutdated: boolean): void {
    this.isOutdated = isOutdated;
  }

  protected async list(): Promise<string> {
    this.lists += 1;
    const { present } = this;
    await this.slowly;
    if (present === '') throw new Error('it cannot be read');
    return present;
  }

  protected changeFor(id: string, seen: string): string | undefined {
    const word = this.desired.of(id)[0]?.word;
    return word === undefined || word === seen ? undefined : word;
  }

  protected async write(word: string): Promise<Ran> {
    this.writes += 1;
    return await this.answer(word);
  }
}

class Scene {
  readonly clock = new ManualClock();
  readonly world = new NodeWorld();
  readonly changes = new Changes({ programs: IDLE, clock: this.clock, log: SILENT });
  readonly target = new Word({
    programs: IDLE,
    retries: new Retries(this.clock, this.world, () => {}),
    changes: this.changes,
    log: SILENT,
    wake: () => setImmediate(() => this.target.flush()),
  });

  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(50);
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test('a difference is written once, seen, and then nothing more is done', async () => {
  const scene = await observed();
  const { target } = scene;
  target.desired.add({ kind: 'wish', word: 'new' });
  assert.deepEqual(target.plan(), [{ id: 'word', change: 'new' }]);
  target.flush();
  assert.equal(target.quiet, false);
  await scene.pass(100);
  assert.deepEqual([target.present, target.writes, target.quiet, target.plan()], ['new', 1, true, []]);
  const { lists } = target;
  await scene.pass(10_000);
  assert.equal(target.lists - lists, 2, 'a list each five seconds, without a monitor');
});

test('a write that fails is tried again later, with its reason; one without an effect as well', async () => {
  const scene = await observed();
  const { target, world } = scene;
  target.answer = () => ({ ok: false, message: 'no room' });
  target.desired.add({ kind: 'wish', word: 'new' });
  await scene.pass(150);
  target.flush();
  await scene.pass(50);
  assert.deepEqual([target.writes, world.failures.peek('word')], [1, 'no room']);
  target.answer = () => ({ ok: true, output: '' });
  for (let waits = 0; waits < 20; waits++) {
    await scene.pass(500);
    target.flush();
  }
  assert.ok(target.writes > 2 && target.writes < 9, `${target.writes} writes in 10 s`);
  assert.equal(world.failures.peek('word'), 'the word: what was written is not there afterwards');
});

test('a list that a write overlapped is thrown away, and stop waits for the write', async () => {
  const scene = await observed();
  const { target, changes } = scene;
  const slow = Promise.withResolvers<void>();
  target.slowly = slow.promise;
  // Begins to read the old word.
  await scene.pass(5_050);
  target.slowly = Promise.resolve();
  const written = Promise.withResolvers<void>();
  target.answer = async (word) => {
    await written.promise;
    target.present = word;
    return { ok: true, output: '' };
  };
  target.desired.add({ kind: 'wish', word: 'new' });
  target.flush();
  let stopped = false;
  written.resolve();
  await scene.pass(50);
  slow.resolve();
  await scene.pass(50);
  assert.deepEqual(target.plan(), [], 'the old word is not believed');
  target.answer = async (word) => {
    await blocked.promise;
    target.present = word;
    return { ok: true, output: '' };
  };
  const blocked = Promise.withResolvers<void>();
  target.desired.remove(target.desired.of('word')[0] as Wish);
  target.desired.add({ kind: 'wish', word: 'last' });
  target.flush();
  const stopping = target.stop().then(() => (stopped = true));
  await scene.pass(100);
  assert.equal(stopped, false);
  blocked.resolve();
  await stopping;
  assert.equal(target.present, 'last');
  changes.stop();
  assert.equal(scene.clock.timers, 0);
});

test('the last list is outdated from the begin of a write until one after it succeeded', async () => {
  const scene = await observed();
  const { target, changes } = scene;
  const written = Promise.withResolvers<void>();
  target.answer = async () => {
    await written.promise;
    target.present = '';
    return { ok: true, output: '' };
  };
  target.desired.add({ kind: 'wish', word: 'new' });
  target.flush();
  await scene.pass(6_000);
  assert.equal(target.isOutdated, true, 'it is under way');
  const { lists } = target;
  written.resolve();
  await scene.pass(100);
  assert.deepEqual([target.lists > lists, target.isOutdated], [true, true], 'it could not be listed');
  target.present = 'new';
  await scene.pass(6_000);
  assert.equal(target.isOutdated, false);
  changes.stop();
});

test('nothing is written before the first list succeeded', async () => {
  const scene = new Scene();
  const { target } = scene;
  target.present = '';
  target.desired.add({ kind: 'wish', word: 'new' });
  target.start();
  await scene.pass(1_000);
  target.flush();
  assert.deepEqual([target.observed, target.writes, target.waitingFor], [false, 0, ['the word']]);
  target.present = 'old';
  await scene.pass(6_000);
  target.flush();
  await scene.pass(100);
  assert.deepEqual([target.observed, target.present], [true, 'new']);
});

async function observed(): Promise<Scene> {
  const scene = new Scene();
  scene.target.start();
  await scene.pass(100);
  assert.equal(scene.target.observed, true);
  return scene;
}
