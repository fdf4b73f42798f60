import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { ManualClock } from '../timing/testing/manual-clock.ts';
import { until } from '../testing/until.ts';
import { backupName } from './backup-file.ts';
import { BackupSchedule } from './schedule.ts';

const MINUTE = 60_000;
let directory: string;
let clock: ManualClock;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kiln-schedule-'));
  clock = new ManualClock();
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

interface Scene {
  readonly schedule: BackupSchedule;
  readonly outcomes: (string | undefined)[];
  leads: boolean;
  problem: string | undefined;
}

function scheduled(into = directory): Scene {
  const scene: { -readonly [K in keyof Scene]: Scene[K] } = { schedule: undefined as never, outcomes: [], leads: true, problem: undefined };
  scene.schedule = new BackupSchedule({
    ...{ directory: into, everyMs: 60 * MINUTE, clock, leads: () => scene.leads, done: (failure) => scene.outcomes.push(failure) },
    make: async () => {
      if (scene.problem !== undefined) throw new Error(scene.problem);
      await writeFile(join(directory, backupName(clock.wallTime())), '');
    },
  });
  scene.schedule.start();
  return scene;
}

/** The look after so long has ended: its timer for the next one is set. */
async function after(ms: number): Promise<void> {
  clock.advance(ms);
  await until('the next look is scheduled', () => Promise.resolve(clock.timers === 1));
}

test('one at once, then one each hour, across a change of the leader', async () => {
  const first = scheduled();
  await after(0);
  assert.deepEqual(first.outcomes, [undefined]);
  await after(59 * MINUTE);
  assert.equal((await readdir(directory)).length, 1);
  first.leads = false;
  await after(MINUTE);
  assert.equal((await readdir(directory)).length, 1, 'another one leads');
  await first.schedule.stop();
  const second = scheduled();
  await after(0);
  assert.equal((await readdir(directory)).length, 2, 'it was due');
  assert.equal(second.schedule.newest, clock.wallTime());
  await after(30 * MINUTE);
  assert.equal((await readdir(directory)).length, 2);
  await second.schedule.stop();
  assert.equal(clock.timers, 0);
});

test('a failure is told and tried again after five minutes; a file of the future ends nothing', async () => {
  await writeFile(join(directory, backupName(clock.wallTime() + 1_000 * MINUTE)), '');
  const scene = scheduled();
  scene.problem = 'no space left on device';
  await after(0);
  assert.equal(scene.schedule.failure, 'no space left on device');
  scene.problem = undefined;
  await after(MINUTE);
  assert.deepEqual(scene.outcomes, ['no space left on device']);
  await after(4 * MINUTE);
  assert.deepEqual(scene.outcomes, ['no space left on device', undefined]);
  assert.equal(scene.schedule.failure, undefined);
  await scene.schedule.stop();
});

test('a directory that does not exist yet has no backups', async () => {
  const scene = scheduled(join(directory, 'new'));
  await after(0);
  assert.deepEqual(scene.outcomes, [undefined]);
  await scene.schedule.stop();
});
