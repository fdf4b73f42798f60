import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, pod } from '../context.ts';
import type { Fields, RawReply } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';

const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const PODS = '/api/v1/namespaces/default/pods';

export function priorityCases(holder: Holder): void {
  const priorityClass = async (name: string, fields: Fields): Promise<RawReply> =>
    conformance(holder).http.send('POST', CLASSES, {
      ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name } },
      ...fields,
    });
  /** The priority fields that a pod with this spec gets, or the status and message of the rejection. */
  const given = async (spec: Fields): Promise<unknown> => {
    const body = pod('p');
    const reply = await conformance(holder).http.send('POST', `${PODS}?dryRun=All`, {
      ...body,
      spec: { ...(body['spec'] as Fields), ...spec },
    });
    const [name, priority, policy] = ['priorityClassName', 'priority', 'preemptionPolicy'].map((field) => at(reply.body, 'spec', field));
    return reply.status === 201 ? [name, priority, policy] : [reply.status, message(reply)];
  };
  const forbidden = (why: string): unknown => [403, `pods "p" is forbidden: ${why}`];
  const computed = (what: string, by: string): unknown =>
    forbidden(`${what} must not be provided in pod spec; priority admission controller computed ${by} from the given PriorityClass name`);

  test('a pod has the priority of its class, and no other', async () => {
    const { http } = conformance(holder);
    const name = fresh('high');
    await priorityClass(name, { value: 1000, preemptionPolicy: 'Never' });
    // The API server observes new classes by a watch, a moment later.
    await until('the class is known', async () => isDeepStrictEqual(await given({ priorityClassName: name }), [name, 1000, 'Never']));
    assert.deepEqual(await given({ priorityClassName: name, priority: 1000 }), [name, 1000, 'Never']);
    assert.deepEqual(await given({ priorityClassName: name, priority: 7 }), computed('the integer value of priority (7)', '1000'));
    assert.deepEqual(
      await given({ priorityClassName: name, preemptionPolicy: 'PreemptLowerPriority' }),
      computed('the string value of PreemptionPolicy (PreemptLowerPriority)', 'Never'),
    );
    assert.deepEqual(await given({}), [undefined, 0, 'PreemptLowerPriority']);
    assert.deepEqual(await given({ priority: 7 }), computed('the integer value of priority (7)', '0'));
    assert.deepEqual(await given({ priorityClassName: 'nobody' }), forbidden('no PriorityClass with name nobody was found'));
    assert.deepEqual(await given({ priorityClassName: 'system-node-critical' }), [
      'system-node-critical',
      2_000_001_000,
      'PreemptLowerPriority',
    ]);
    await http.send('DELETE', `${CLASSES}/${name}`);
  });

  test('one class may be the default; the value of a class is immutable', async () => {
    const { http } = conformance(holder);
    const [name, other] = [fresh('usual'), fresh('usual')];
    assert.equal((await priorityClass(name, { value: 500, globalDefault: true })).status, 201);
    await until('the class is known', async () => isDeepStrictEqual(await given({}), [name, 500, 'PreemptLowerPriority']));
    const second = await priorityClass(other, { value: 400, globalDefault: true });
    assert.equal(second.status, 403);
    assert.match(message(second), new RegExp(`PriorityClass ${name} is already marked as default\\. Only one default can exist$`));
    const changed = await http.patch(`${CLASSES}/${name}`, 'merge-patch', { value: 5 });
    assert.equal(changed.status, 422);
    assert.match(message(changed), /is invalid: [Vv]alue: Forbidden: may not be changed in an update\.$/);
    const policy = await http.patch(`${CLASSES}/${name}`, 'merge-patch', { preemptionPolicy: 'Never' });
    assert.match(message(policy), /preemptionPolicy: Invalid value: "Never": field is immutable$/);
    await http.send('DELETE', `${CLASSES}/${name}`);
    await until('pods have none again', async () => isDeepStrictEqual(await given({}), [undefined, 0, 'PreemptLowerPriority']));
    const system = await http.send('DELETE', `${CLASSES}/system-node-critical?dryRun=All`);
    assert.equal(system.status, 403);
    assert.match(message(system), /this is a system priority class and cannot be deleted$/);
  });
}
