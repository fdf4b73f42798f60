import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { EventRecorder, type EventInput, type EventRecorderOptions } from './event-recorder.ts';
import { PODS, type Resource } from '../resource.ts';
import { GateKeeper } from '../../timing/gate.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';

const VPCS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'vpcs', kind: 'Vpc', namespaced: false };

describe('EventRecorder', () => {
  let api: ScriptedApi;
  let clock: ManualClock;
  let recorder: EventRecorder;
  let dropped: string[];

  const open = (options: Partial<EventRecorderOptions> = {}): void => {
    recorder = new EventRecorder({
      client: api.client(),
      component: 'kiln-controller',
      instance: 'kiln-0',
      clock,
      onDropped: (event, why) => dropped.push(`${event.target.name} ${why}`),
      ...options,
    });
  };
  const about = (name: string, message = 'm', more: Partial<EventInput> = {}): EventInput => ({
    target: { resource: PODS, namespace: 'ns', name, uid: `uid-${name}` },
    type: 'Normal',
    reason: 'Tested',
    message,
    ...more,
  });

  beforeEach(async () => {
    api = await ScriptedApi.start();
    clock = new ManualClock();
    dropped = [];
    open();
  });
  afterEach(async () => {
    await recorder.close();
    await api.close();
  });

  it('writes another source where one is given', async () => {
    recorder.record(about('a', 'm', { component: 'kube-ovn-controller' }));
    const { body } = await api.next();
    const { source, reportingComponent, reportingInstance } = body as Readonly<Record<string, unknown>>;
    assert.deepEqual(
      [source, reportingComponent, reportingInstance],
      [{ component: 'kube-ovn-controller' }, 'kube-ovn-controller', 'kiln-0'],
    );
  });

  it('writes what kubectl shows', async () => {
    recorder.record(about('a', 'bound to 10.16.0.2', { action: 'Bind', related: { resource: VPCS, name: 'v', uid: 'uid-v' } }));
    const exchange = await api.next();
    assert.equal(`${exchange.method} ${exchange.path}`, 'POST /api/v1/namespaces/ns/events');
    const { metadata, ...event } = exchange.body as { metadata: { name: string; namespace: string } } & Record<string, unknown>;
    assert.match(metadata.name, /^a\.[0-9a-f]{16}$/);
    assert.deepEqual(event, {
      apiVersion: 'v1',
      kind: 'Event',
      type: 'Normal',
      reason: 'Tested',
      message: 'bound to 10.16.0.2',
      action: 'Bind',
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'a', uid: 'uid-a' },
      related: { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', name: 'v', uid: 'uid-v' },
      source: { component: 'kiln-controller' },
      reportingComponent: 'kiln-controller',
      reportingInstance: 'kiln-0',
      firstTimestamp: '2030-01-01T00:00:01Z',
      lastTimestamp: '2030-01-01T00:00:01Z',
      count: 1,
    });
    exchange.json({ metadata });
  });

  it('keeps Events of cluster-scoped objects in default', async () => {
    recorder.record(about('v', 'm', { target: { resource: VPCS, name: 'v' } }));
    const exchange = await api.next();
    assert.equal(exchange.path, '/api/v1/namespaces/default/events');
    exchange.object();
  });

  it('raises the count of a repeated Event with one write for many', async () => {
    recorder.record(about('a'));
    (await api.next()).object();
    await until('the Event', () => recorder.counters.created === 1);
    for (let i = 0; i < 9; i++) recorder.record(about('a'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(api.untaken, 0);
    clock.advance(5_000);
    const bump = await api.next();
    assert.equal(bump.method, 'PATCH');
    assert.deepEqual(bump.body, { count: 10, lastTimestamp: '2030-01-01T00:00:06Z' });
    bump.status(404, 'NotFound', 'forgotten');
    const again = await api.next();
    assert.equal(again.method, 'POST');
    assert.equal((again.body as { count: number }).count, 10);
    again.object();
    await recorder.idle();
  });

  it('begins a new Event after the window', async () => {
    recorder.record(about('a'));
    (await api.next()).object();
    clock.advance(601_000);
    recorder.record(about('a'));
    const second = await api.next();
    assert.equal(second.method, 'POST');
    assert.equal((second.body as { count: number }).count, 1);
    second.object();
  });

  it('limits the Events of one object', async () => {
    open({ perObject: [3, 1] });
    api.handler = (exchange) => exchange.object();
    for (let i = 0; i < 5; i++) recorder.record(about('chatty', `message ${i}`));
    recorder.record(about('quiet'));
    await recorder.idle();
    assert.equal(recorder.counters.created, 4);
    assert.deepEqual(dropped, ['chatty object-rate', 'chatty object-rate']);
  });

  it('limits rate, queue and requests in flight over all objects', async () => {
    open({ total: [3, 10], queue: { perShare: 4, total: 100 } });
    for (let i = 0; i < 10; i++) recorder.record(about(`o${i}`));
    const first = await api.next();
    const second = await api.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(api.untaken, 0, 'two at a time');
    assert.equal(dropped.length, 4);
    let answered = 0;
    api.handler = (exchange) => {
      answered++;
      exchange.object();
    };
    first.object();
    second.object();
    await until('the burst', () => answered === 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(answered, 1, 'the rate holds the rest');
    for (let next = 2; next <= 4; next++) {
      await until('it waits for the rate', () => clock.timers > 0);
      clock.advance(110);
      await until('the next', () => answered === next);
    }
    await recorder.idle();
    assert.equal(answered, 4);
  });

  it('cuts long messages at a character and long reasons', async () => {
    recorder.record(about('a', 'ü'.repeat(2_000), { reason: 'R'.repeat(300) }));
    const exchange = await api.next();
    const { message, reason } = exchange.body as { message: string; reason: string };
    assert.ok(Buffer.byteLength(message) <= 1024 && Buffer.byteLength(message) >= 1020, `${Buffer.byteLength(message)} bytes`);
    assert.match(message, /^ü+…$/);
    assert.equal(reason.length, 128);
    exchange.object();
  });

  it('gives an Event of an object with a long name a valid name', async () => {
    recorder.record(about(`${'a'.repeat(229)}-${'b'.repeat(20)}`));
    const { metadata } = (await api.next()).body as { metadata: { name: string } };
    assert.match(metadata.name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  });

  it('retries failures that may pass, and drops the rest', async () => {
    recorder.record(about('a'));
    (await api.next()).status(503, 'ServiceUnavailable', 'x');
    await until('the retry to be planned', () => clock.timers > 0);
    clock.advance(10_000);
    (await api.next()).status(403, 'Forbidden', 'no');
    await recorder.idle();
    assert.deepEqual(dropped, ['a KUBE_FORBIDDEN']);
  });

  describe('while the gate is closed', () => {
    it('sends nothing, and when it opens what waited, once, without another Event', async () => {
      const leads = new GateKeeper('leads');
      open({ gate: (wake) => leads.gate.passes(wake) });
      for (const name of ['a', 'b', 'a']) recorder.record(about(name));
      assert.deepEqual([api.untaken, recorder.waiting, dropped], [0, 2, []]);
      leads.open();
      const sent = [await api.next(), await api.next()];
      for (const exchange of sent) exchange.object();
      await recorder.idle();
      const told = sent.map(({ body }) => body as { readonly involvedObject: { readonly name: string }; readonly count: number });
      assert.deepEqual(told.map(({ involvedObject, count }) => `${involvedObject.name} ${count}`).toSorted(), ['a 2', 'b 1']);
      assert.deepEqual([api.untaken, dropped], [0, []]);
    });

    it('one that closes again holds the rest', async () => {
      const leads = new GateKeeper('leads', clock);
      open({ gate: (wake) => leads.gate.passes(wake) });
      recorder.record(about('a'));
      leads.open(clock.now() + 1_000);
      (await api.next()).object();
      await recorder.idle();
      clock.advance(2_000);
      recorder.record(about('b'));
      assert.deepEqual([api.untaken, recorder.waiting], [0, 1]);
      leads.open();
      (await api.next()).object();
      await recorder.idle();
      assert.deepEqual(dropped, []);
    });

    it('keeps so many, and what is too old is not sent', async () => {
      const leads = new GateKeeper('leads');
      open({ gate: (wake) => leads.gate.passes(wake), queue: { perShare: 3, total: 3 } });
      for (const name of ['a', 'b', 'c', 'd']) recorder.record(about(name));
      assert.deepEqual([recorder.waiting, dropped], [3, ['a queue']]);
      clock.advance(600_001);
      recorder.record(about('d', 'new'));
      leads.open();
      const { body } = await api.next();
      assert.equal((body as { readonly message: string }).message, 'new');
      assert.deepEqual(dropped.slice(1).toSorted(), ['b late', 'c late', 'd queue']);
    });

    it('ends with the recorder', async () => {
      const leads = new GateKeeper('leads');
      open({ gate: (wake) => leads.gate.passes(wake) });
      recorder.record(about('a'));
      await recorder.close();
      leads.open();
      assert.equal(api.untaken, 0);
    });
  });

  describe('where one namespace floods', () => {
    const of = (namespace: string, name: string, message: string): EventInput =>
      about(name, message, { target: { resource: PODS, namespace, name, uid: `uid-${name}` } });
    const eventOf = (exchange: { readonly body: unknown }): string => {
      const { involvedObject, message } = exchange.body as { involvedObject: { namespace: string; name: string }; message: string };
      return `${involvedObject.namespace}/${involvedObject.name} ${message}`;
    };

    it('Events of another namespace and of the cluster are written within seconds', async () => {
      const sent: string[] = [];
      api.handler = (exchange) => {
        sent.push(eventOf(exchange));
        exchange.json(exchange.body);
      };
      // 258 edits a second of 400 pods, each with a different message, for 10 seconds.
      let edit = 0;
      const flood = (): void => {
        for (let n = 0; n < 26; n++, edit++) recorder.record(of('flood', `pod-${edit % 400}`, `edit ${edit}`));
      };
      for (let tenth = 0; tenth < 100; tenth++) {
        flood();
        if (tenth === 50) {
          for (let n = 0; n < 10; n++) recorder.record(of('quiet', `broken-${n}`, 'cannot be bound'));
          recorder.record({ ...about('red'), target: { resource: VPCS, name: 'red' } });
        }
        clock.advance(100);
        await new Promise((resolve) => setTimeout(resolve, 1));
        if (tenth === 70) {
          await until('the quiet ones', () => sent.filter((one) => one.startsWith('quiet/')).length === 10);
          assert.ok(
            sent.some((one) => one.endsWith('/red m')),
            'the Vpc had its turn',
          );
        }
      }
      assert.ok(
        sent.some((one) => one.startsWith('flood/')),
        'the flood is slowed, not silenced',
      );
      assert.deepEqual(
        dropped.filter((one) => !one.startsWith('pod-')),
        [],
      );
      assert.ok(recorder.waiting <= 510, `${recorder.waiting} wait`);
    });

    it('the newest messages remain', async () => {
      open({ total: [1, 1], queue: { perShare: 3, total: 100 } });
      recorder.record(of('flood', 'first', 'm'));
      const first = await api.next();
      for (let n = 0; n < 3; n++) recorder.record(of('flood', `pod-${n}`, 'old'));
      recorder.record(of('flood', 'pod-1', 'new'));
      recorder.record(of('flood', 'pod-3', 'm'));
      assert.deepEqual(dropped, ['pod-1 queue', 'pod-0 queue']);
      const sent: string[] = [];
      api.handler = (exchange) => {
        sent.push(eventOf(exchange));
        exchange.json({ metadata: { name: 'x' } });
      };
      first.json({ metadata: { name: 'x' } });
      for (let next = 1; next <= 3; next++) {
        await until('it waits for the rate', () => clock.timers > 0);
        clock.advance(1_100);
        await until('the next', () => sent.length === next);
      }
      assert.deepEqual(sent, ['flood/pod-2 old', 'flood/pod-1 new', 'flood/pod-3 m']);
    });

    it('hanging requests of its Events leave room for another namespace', async () => {
      for (let n = 0; n < 10; n++) recorder.record(of('hangs', `pod-${n}`, 'm'));
      const hanging = [await api.next(), await api.next()];
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(api.untaken, 0);
      recorder.record(of('quiet', 'pod', 'm'));
      const exchange = await api.next();
      assert.equal(eventOf(exchange), 'quiet/pod m');
      exchange.json({ metadata: { name: 'x' } });
      assert.ok(hanging.every((one) => eventOf(one).startsWith('hangs/')));
    });

    it("an explicit share counts instead of the object's: an IP object counts for its tenant", async () => {
      open({ queue: { perShare: 2, total: 100 }, total: [1, 1] });
      recorder.record(about('first'));
      const first = await api.next();
      for (let n = 0; n < 5; n++)
        recorder.record({ ...about(`ip-${n}`, 'm', { target: { resource: VPCS, name: `ip-${n}` } }), share: 'flood' });
      recorder.record({ ...about('red'), target: { resource: VPCS, name: 'red' } });
      assert.deepEqual(dropped, ['ip-0 queue', 'ip-1 queue', 'ip-2 queue']);
      first.json({ metadata: { name: 'x' } });
    });
  });
});
