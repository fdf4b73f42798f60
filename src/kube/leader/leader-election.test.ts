import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LeaderElection, type LeaderElectionOptions } from './leader-election.ts';
import { LeaseApi } from '../testing/lease-api.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';

/** The message of undici's diagnostics about a request. */
interface RequestMessage {
  readonly request: object;
}
const ENDS = ['undici:request:trailers', 'undici:request:error'] as const;

describe('LeaderElection', () => {
  let api: ScriptedApi;
  let server: LeaseApi;
  let clock: ManualClock;
  let elections: LeaderElection[];
  let changes: string[];

  const candidate = (identity: string, options: Partial<LeaderElectionOptions> = {}): LeaderElection => {
    const election = new LeaderElection({
      client: api.client(),
      namespace: 'ns',
      name: 'l',
      identity,
      clock,
      random: () => 0,
      onGained: (transitions) => changes.push(`${identity} gained ${transitions}`),
      onLost: (reason) => changes.push(`${identity} lost: ${reason}`),
      ...options,
    }).start();
    elections.push(election);
    return election;
  };
  /** Advances the time in steps; between them every request that gets an answer is completed. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 500) {
      clock.advance(Math.min(500, left));
      for (let calm = 0; calm < 10; calm = underWay.size > server.hanging ? 0 : calm + 1)
        await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const underWay = new Set<unknown>();
  const begins = (message: unknown): void => void underWay.add((message as RequestMessage).request);
  const ends = (message: unknown): void => void underWay.delete((message as RequestMessage).request);
  before(() => {
    subscribe('undici:request:create', begins);
    for (const end of ENDS) subscribe(end, ends);
  });
  after(() => {
    unsubscribe('undici:request:create', begins);
    for (const end of ENDS) unsubscribe(end, ends);
  });
  beforeEach(async () => {
    api = await ScriptedApi.start();
    server = new LeaseApi(api);
    clock = new ManualClock();
    elections = [];
    changes = [];
  });
  afterEach(async () => {
    server.fault = undefined;
    await Promise.all(elections.map((election) => election.stop()));
    await api.close();
  });

  it('annotates the Lease when it creates it and when it takes it over, and keeps annotations of others', async () => {
    let news: string | undefined;
    const a = candidate('a', { annotations: () => ({ written: 'by a', news }) });
    await until('leadership', () => a.isLeader());
    assert.deepEqual(server.lease?.metadata.annotations, { written: 'by a' });
    for (const each of ['bad', undefined]) {
      news = each;
      await pass(3_000);
      await until('the annotation is written', () => server.lease?.metadata.annotations?.['news'] === each);
    }
    await a.stop();
    server.set(server.lease?.spec ?? {}, { written: 'by a', other: 'kept' });
    const b = candidate('b', { annotations: () => ({ written: 'by b' }) });
    await pass(20_000);
    await until('leadership', () => b.isLeader());
    assert.deepEqual(server.lease?.metadata.annotations, { written: 'by b', other: 'kept' });
  });

  it('reports a renewal without an answer', async () => {
    const errors: string[] = [];
    const a = candidate('a', { onError: ({ code, message }) => errors.push(`${code}: ${message}`) });
    await until('leadership', () => a.isLeader());
    server.fault = ({ method }) => method === 'PUT';
    await pass(8_000);
    await until('the error is reported', () => errors.length > 0);
    assert.equal(errors[0], 'KUBE_TIMEOUT: update leases.coordination.k8s.io ns/l: the server did not answer within 5 s');
  });

  it('creates the Lease, renews it, and releases it when it stops', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    assert.equal(server.lease?.spec?.holderIdentity, 'a');
    assert.equal(server.lease?.spec?.leaseDurationSeconds, 15);
    assert.match(String(server.lease?.spec?.renewTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    await pass(30_000);
    assert.equal(a.isLeader(), true);
    assert.ok(server.writes >= 10, `${server.writes} renewals in 30 s`);
    await a.stop();
    assert.equal(a.isLeader(), false);
    assert.equal(server.lease?.spec?.holderIdentity, '');
    assert.deepEqual(changes, ['a gained 0', 'a lost: released']);
  });

  it('has one leader at most, and the next acquires a released Lease at once', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    const b = candidate('b');
    await pass(40_000);
    assert.deepEqual([a.isLeader(), b.isLeader()], [true, false]);
    assert.equal(b.holder, 'a');
    await a.stop();
    await pass(3_000);
    assert.equal(b.isLeader(), true);
    assert.deepEqual(changes, ['a gained 0', 'a lost: released', 'b gained 1']);
  });

  it('stops by the clock alone when renewals hang, before another may begin', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    server.fault = () => true;
    clock.advance(9_999);
    assert.equal(a.isLeader(), true);
    clock.advance(1);
    assert.equal(a.isLeader(), false, 'no callback was needed');
    await until('the loss to be reported', () => changes.length === 2);
    assert.deepEqual(changes, ['a gained 0', 'a lost: expired']);
  });

  it('stops when renewals are rejected, and the other candidate waits for the whole duration', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    let rejecting = false;
    const b = candidate('b', { client: api.client({ userAgent: 'b' }) });
    await pass(4_000);
    server.fault = (exchange) => {
      if (!rejecting || exchange.headers['user-agent'] === 'b') return false;
      exchange.status(401, 'Unauthorized', 'Unauthorized');
      return true;
    };
    rejecting = true;
    let overlap = 0;
    let tookOver: number | undefined;
    const start = clock.now();
    for (let i = 0; i < 60; i++) {
      await pass(500);
      if (a.isLeader() && b.isLeader()) overlap++;
      if (b.isLeader()) tookOver ??= clock.now() - start;
    }
    assert.equal(overlap, 0);
    assert.equal(a.isLeader(), false);
    assert.ok(tookOver !== undefined && tookOver >= 12_000 && tookOver <= 20_000, `took over after ${tookOver} ms`);
    assert.deepEqual(changes, ['a gained 0', 'a lost: expired', 'b gained 1']);
  });

  it('counts its right from the start of a renewal, not from the reply', async () => {
    let held: (() => void) | undefined;
    server.fault = (exchange) => {
      if (exchange.method !== 'POST') return false;
      server.fault = undefined;
      held = () =>
        exchange.json({
          metadata: { name: 'l', namespace: 'ns', resourceVersion: '9' },
          spec: exchange.body && (exchange.body as { spec: object }).spec,
        });
      return true;
    };
    const a = candidate('a');
    await until('the request', () => held !== undefined);
    clock.advance(4_000);
    held?.();
    await until('leadership', () => a.isLeader());
    assert.equal(a.leaderForMs, 6_000);
  });

  it("decides by observed changes of the Lease, not by the holder's clock", async () => {
    server.set({ holderIdentity: 'z', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00.000000Z' });
    const a = candidate('a');
    await pass(10_000);
    server.set({ holderIdentity: 'z', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:10.000000Z' });
    await pass(14_000);
    assert.equal(a.isLeader(), false);
    await pass(6_000);
    assert.equal(a.isLeader(), true);
  });

  it('stops when another process has written the Lease', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    server.set({ holderIdentity: 'thief', leaseDurationSeconds: 15, renewTime: 'x' });
    await pass(2_500);
    assert.equal(a.isLeader(), false, 'the first renewal after it tells');
    assert.deepEqual(changes, ['a gained 0', 'a lost: taken']);
  });

  it('renews with one request', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    let requests = 0;
    server.fault = () => {
      requests++;
      return false;
    };
    await pass(20_000);
    assert.equal(requests, 10);
  });

  it('renews at once on request, and counts from the start of the successful attempt', async () => {
    const a = candidate('a');
    await until('leadership', () => a.isLeader());
    const gained = a.renewedAt;
    let requests = 0;
    server.fault = () => {
      requests++;
      return false;
    };
    await pass(500);
    assert.deepEqual([requests, a.renewedAt], [0, gained]);
    a.renewNow();
    await until('the renewal', () => a.renewedAt > gained);
    assert.deepEqual([requests, a.renewedAt], [1, clock.now()]);
    await pass(1_500);
    assert.equal(requests, 1, 'the pause begins anew');
    await pass(500);
    assert.equal(requests, 2);
  });

  it('rejects durations with which two could lead', () => {
    assert.throws(
      () =>
        new LeaderElection({
          client: api.client(),
          namespace: 'ns',
          name: 'l',
          leaseDurationMs: 10_000,
          renewDeadlineMs: 10_000,
        }),
      RangeError,
    );
  });

  it('has a different identity in each process', () => {
    const make = (): string => new LeaderElection({ client: api.client(), namespace: 'ns', name: 'l' }).identity;
    assert.notEqual(make(), make());
  });
});
