import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { DefinitionWatch } from './definition-watch.ts';
import type { KubeObject, Resource } from '../resource.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { type Exchange, ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';

const THINGS: Resource = { group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing', namespaced: false };

const definition = (version: number, { served = true, established = true } = {}): KubeObject => {
  const object = {
    metadata: { name: 'things.example.com', uid: 'u', resourceVersion: String(version) },
    spec: { versions: [{ name: 'v1', served }] },
    status: { conditions: [{ type: 'Established', status: established ? 'True' : 'False' }] },
  };
  return object;
};

describe('DefinitionWatch', () => {
  let api: ScriptedApi;
  let clock: ManualClock;
  let watch: DefinitionWatch;
  let stop: AbortController;
  let asked: number;

  /** A waiting cache; counts how often it is woken. */
  const wait = (otherwiseMs = 30_000): Promise<void> =>
    watch.untilServed(THINGS, otherwiseMs, stop.signal).then(() => {
      asked++;
    });
  const followed = async (objects: readonly KubeObject[]): Promise<Exchange> => {
    watch.start();
    (await api.next()).list(objects, '10');
    const exchange = (await api.next()).open();
    await until('the definitions', () => watch.followed);
    return exchange;
  };

  beforeEach(async () => {
    api = await ScriptedApi.start();
    clock = new ManualClock();
    stop = new AbortController();
    asked = 0;
    watch = new DefinitionWatch({ client: api.client(), clock, random: () => 0.5 });
  });
  afterEach(async () => {
    stop.abort();
    await watch.close();
    await api.close();
  });

  it('waits for the definition, then until it is established, then for the server', async () => {
    const events = await followed([]);
    const waiting = wait();
    clock.advance(5 * 60_000);
    events.event('ADDED', definition(11, { established: false }));
    await until('the definition', () => watch.version === '11');
    clock.advance(60_000);
    await new Promise(setImmediate);
    assert.equal(asked, 0);
    events.event('MODIFIED', definition(12));
    await until('the word to ask', () => {
      clock.advance(250);
      return asked === 1;
    });
    await waiting;
  });

  it('asks ever more rarely for a declared kind that the server does not serve', async () => {
    await followed([definition(5)]);
    const delays: number[] = [];
    for (let round = 0; round < 9; round++) {
      const began = clock.now();
      const waiting = wait();
      await until('the word to ask', () => {
        if (asked === round) clock.advance(50);
        return asked > round;
      });
      await waiting;
      delays.push(clock.now() - began);
    }
    assert.deepEqual(delays, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('does not wait for a version that is not served', async () => {
    const events = await followed([definition(5, { served: false })]);
    void wait();
    clock.advance(60_000);
    await new Promise(setImmediate);
    assert.equal(asked, 0);
    events.event('MODIFIED', definition(11));
    await until('the word to ask', () => {
      clock.advance(250);
      return asked === 1;
    });
  });

  it('keeps to the own delay of a cache without the right to read definitions', async () => {
    watch.start();
    (await api.next()).status(403, 'Forbidden', 'forbidden');
    void wait();
    clock.advance(29_000);
    await new Promise(setImmediate);
    assert.equal(asked, 0);
    clock.advance(1_000);
    await until('the word to ask', () => asked === 1);
  });
});
