import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { isKubeError } from '../../src/kube/errors.ts';
import { treeSeed } from '../../src/testing/tree-seed.ts';
import { Ground, resourceOf } from './ground.ts';
import type { Manifest } from './manifests.ts';
import { manifest } from './manifests.ts';
import type { Mutation } from './mutate.ts';
import { mutated, mutation } from './mutate.ts';

const RUNS = Number(process.env['MUTATIONS'] ?? 1_000);
const ROUND = process.env['ROUND'];
/** Mutants at the same time: they meet each other as well. */
const TOGETHER = 100;
/** Writes of the controller about one object, from creation to deletion: finalizer, defaults, a few conditions. */
const MOST_WRITES = 15;

let ground: Ground;
before(async () => {
  ground = await Ground.start();
});
after(() => ground.stop());

interface Mutant {
  readonly choice: number;
  readonly mutations: readonly Mutation[];
  /** Created valid, and changed once its network runs. */
  readonly later: boolean;
}

const mutants: fc.Arbitrary<readonly Mutant[]> = fc.array(
  fc.record({ choice: fc.nat({ max: 1_000 }), mutations: fc.array(mutation, { minLength: 1, maxLength: 3 }), later: fc.boolean() }),
  { minLength: TOGETHER, maxLength: TOGETHER },
);

/** Whether the API server accepts the write; rejected objects are skipped. */
async function accepted(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isKubeError(error, 'KUBE_INVALID') || isKubeError(error, 'KUBE_BAD_REQUEST')) return false;
    throw error;
  }
}

let round = 0;
const tally = { created: 0, changed: 0, refused: 0, transactions: 0, most: 0 };

async function live(batch: readonly Mutant[]): Promise<void> {
  round++;
  const here: Manifest[] = [];
  const errors = ground.errors.length;
  const refusedBefore = ground.refused.length;
  const begun = performance.now();
  ground.takeWrites();
  const changes: (() => Promise<void>)[] = [];
  for (const [at, { choice, mutations, later }] of batch.entries()) {
    const sound = manifest(choice, `m${round}-${at}`, at);
    const wrong = mutations.reduce((object, one) => mutated(object, one), sound);
    if (!(await accepted(ground.create(later ? sound : wrong)))) {
      tally.refused++;
      continue;
    }
    here.push(sound);
    tally.created++;
    if (later)
      changes.push(async () => {
        const { metadata, spec } = wrong;
        const patch = { metadata: { annotations: metadata.annotations ?? {} }, ...(spec !== undefined && { spec }) };
        const done = await accepted(ground.client.mergePatch(resourceOf(sound.kind), sound.metadata, patch));
        tally[done ? 'changed' : 'refused']++;
      });
  }
  await ground.quiet('the mutants came');
  for (const change of changes) await change();
  await ground.quiet('the mutants changed');
  await ground.serves(`fine-${round}`);
  await ground.quiet('a pod came and went');
  const refused = ground.refused.length - refusedBefore;
  // A row that fails is tried twice, then retried after half a minute.
  assert.ok(refused <= 2 * here.length, `${refused} transactions were refused: ${ground.refused.slice(-3).join('\n')}`);
  await sleep(100);
  // The retry after half a minute is no repetition: a machine on which a round takes as long sees it.
  if (performance.now() - begun < 25_000) assert.equal(ground.refused.length - refusedBefore, refused, 'a refused transaction repeats');
  await ground.clear(here);
  assert.deepEqual(ground.errors.slice(errors), [], 'a rule threw');
  for (const [path, writes] of ground.takeWrites()) {
    if (path.includes('/events')) continue;
    tally.most = Math.max(tally.most, /\/m\d+-/.test(path) ? writes : 0);
    // Open: with SEED=413390035 on 173d5906 the status of an IPPool is written 17 times in one life.
    if (/\/m\d+-/.test(path)) assert.ok(writes <= MOST_WRITES, `${writes} writes to ${path}`);
  }
  tally.transactions += refused;
}

test(`${RUNS} mutants of valid manifests: no exception, no repeated write, bounded writes, other objects work, no row is left`, async (t) => {
  const seed = Number(process.env['SEED'] ?? treeSeed());
  await fc.assert(fc.asyncProperty(mutants, live), {
    seed,
    // `ROUND` replays one round of a seed by itself; the first is 0. Runs are counted from there.
    ...(ROUND === undefined ? { numRuns: Math.ceil(RUNS / TOGETHER) } : { numRuns: 1, path: ROUND }),
    endOnFailure: true,
    // Printing a hundred objects would not help; the seed makes them again.
    reporter: ({ failed, numRuns, errorInstance }) => {
      if (failed) throw new Error(`SEED=${seed}, after ${numRuns} rounds`, { cause: errorInstance });
    },
  });
  t.diagnostic(
    `${tally.created} objects made, ${tally.changed} changed, ${tally.refused} refused by the API server; ` +
      `${tally.transactions} transactions rejected by OVN; at most ${tally.most} writes to one object`,
  );
});
