import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ForeignLeaseState, ForeignLeaseWatch } from './foreign-lease-watch.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { type Exchange, ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';

const lease = (version: number, holderIdentity: string, renewTime: string): object => ({
  metadata: { name: 'kube-ovn-controller', namespace: 'kube-system', uid: 'u', resourceVersion: String(version) },
  spec: { holderIdentity, leaseDurationSeconds: 15, renewTime },
});

describe('ForeignLeaseWatch', () => {
  let api: ScriptedApi;
  let clock: ManualClock;
  let foreign: ForeignLeaseWatch;
  let states: ForeignLeaseState['kind'][];

  const begin = async (items: object[]): Promise<Exchange> => {
    foreign.start();
    const list = await api.next();
    assert.equal(list.path, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases');
    assert.equal(list.query.get('fieldSelector'), 'metadata.name=kube-ovn-controller');
    list.list(items, '10');
    const watch = (await api.next()).open();
    await foreign.untilSynced();
    return watch;
  };

  beforeEach(async () => {
    api = await ScriptedApi.start();
    clock = new ManualClock();
    states = [];
    foreign = new ForeignLeaseWatch({
      client: api.client(),
      namespace: 'kube-system',
      name: 'kube-ovn-controller',
      clock,
      random: () => 0.5,
      onChange: (state) => states.push(state.kind),
    });
  });
  afterEach(async () => {
    await foreign.close();
    await api.close();
  });

  it('is unknown at first and free without a Lease', async () => {
    assert.deepEqual(foreign.state, { kind: 'unknown' });
    await begin([]);
    assert.deepEqual(foreign.state, { kind: 'free' });
  });

  it('is held while renewals are seen, free a whole duration after the last', async () => {
    const watch = await begin([lease(1, 'other', 't0')]);
    assert.deepEqual(foreign.state, { kind: 'held', holder: 'other' });
    clock.advance(10_000);
    watch.event('MODIFIED', lease(11, 'other', 't1')).event('MODIFIED', lease(12, 'next', 't1'));
    await until('the next holder', () => foreign.state.kind === 'held' && foreign.state.holder === 'next');
    clock.advance(14_000);
    assert.equal(foreign.state.kind, 'held');
    clock.advance(2_000);
    assert.equal(foreign.state.kind, 'free');
    watch.event('MODIFIED', lease(13, 'other', 't2'));
    await until('held again', () => foreign.state.kind === 'held');
    watch.event('MODIFIED', lease(14, '', 't3'));
    await until('released', () => foreign.state.kind === 'free');
    watch.event('DELETED', lease(15, '', 't3'));
    assert.deepEqual(states, ['held', 'held', 'free', 'held', 'free']);
  });

  it('is unknown, not free, while the API server cannot be followed', async () => {
    const watch = await begin([lease(1, 'other', 't0')]);
    watch.event('MODIFIED', lease(11, 'next', 't1'));
    await until('the watch to be followed', () => foreign.state.kind === 'held' && foreign.state.holder === 'next');
    watch.reset();
    await until('unknown', () => foreign.state.kind === 'unknown');
    clock.advance(60_000);
    assert.equal(foreign.state.kind, 'unknown');
  });
});
