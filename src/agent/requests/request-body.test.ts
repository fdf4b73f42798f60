/** Bodies of requests: whatever is in them, they are read, or the answer names what is wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assert as property, type Arbitrary, constantFrom, jsonValue, property as forAll, string } from 'fast-check';
import { SILENT } from '../../runtime/log.ts';
import { systemClock } from '../../timing/clock.ts';
import { NodeWorld } from '../world/node-world.ts';
import { CniServer } from './cni-server.ts';
import { type Malformed, readCollectRequest, readInterfaceRequest } from './request-body.ts';
import { RequestsTarget } from './requests-target.ts';

const REQUEST = {
  ...{ cni_type: 'kube-ovn', pod_name: 'web', pod_namespace: 'shop', container_id: 'c0ffee', net_ns: '/run/netns/a', if_name: '' },
  ...{ provider: '', routes: [{ dst: '10.0.0.0/8', gw: '10.16.0.254' }], vf_driver: '', deviceID: '', dns: {} },
};
const PATHS = ['/api/v1/add', '/api/v1/del', '/api/v1/check', '/api/v1/gc'] as const;

test('what Kube-OVN sends is read: also without what may be missing, and with null for it', () => {
  const { routes: _, vf_driver: __, dns: ___, ...removal } = REQUEST;
  assert.equal(readInterfaceRequest(REQUEST, 'add').ok, true);
  assert.partialDeepStrictEqual(readInterfaceRequest({ ...removal, pod_name: '', net_ns: '' }, 'del'), { ok: true, value: { routes: [] } });
  assert.equal(readInterfaceRequest({ ...REQUEST, routes: null, pod_uid: null, dns: null }, 'add').ok, true);
  assert.equal(readCollectRequest({ attachments: [{ container_id: 'c0ffee', if_name: 'eth0' }] }).ok, true);
});

for (const [what, change, field, reason] of [
  ['a missing field', { pod_name: undefined }, 'pod_name', /is missing, and must be a text/],
  ['an empty one', { net_ns: '' }, 'net_ns', /is empty, and must be the path of a network namespace/],
  ['a number', { container_id: 7 }, 'container_id', /is 7, and must be a text/],
  [
    'an id of a container that begins with a hyphen',
    { container_id: '-a' },
    'container_id',
    /"-a", and must be the id of a container: a letter/,
  ],
  ['an empty one', { container_id: '' }, 'container_id', /"", and must be the id of a container/],
  ['one with a slash', { container_id: 'a/eth0' }, 'container_id', /"a\/eth0", and must be the id of a container/],
  ['a line of ip -batch', { net_ns: '/run/a\nlink delete eth0' }, 'net_ns', /"\/run\/a\\nlink delete eth0", and must be the path/],
  ['a name that Linux has not', { if_name: 'a b' }, 'if_name', /"a b", no name of an interface/],
  ['the loopback interface', { if_name: 'lo' }, 'if_name', /"lo", no name of a new interface: not "lo"/],
  ['a name like an option', { if_name: '-4' }, 'if_name', /"-4", no name of a new interface/],
  ['a name with a slash', { if_name: 'a/b' }, 'if_name', /"a\/b", no name of an interface/],
  ['a name of 16 bytes', { if_name: 'x'.repeat(16) }, 'if_name', /no name of an interface: at most 15/],
  ['a name of fewer characters than bytes', { if_name: 'é'.repeat(8) }, 'if_name', /"é+", of 16 bytes: Linux takes at most 15/],
  ['a name that Linux completes', { if_name: 'eth%d' }, 'if_name', /"eth%d", no name of a new interface/],
  ['a name with a quote', { if_name: 'a"b' }, 'if_name', /no name of a new interface/],
  ['a long text', { cni_type: 'x'.repeat(5_000) }, 'cni_type', /has 5000 characters/],
  ['routes that are none', { routes: 'none' }, 'routes', /is a text, and must be a list/],
  ['null as a route', { routes: [null] }, 'routes[0]', /is null, and must be an object/],
  ['a route without a gateway', { routes: [{ dst: '10.0.0.0/8' }] }, 'routes[0].gw', /is missing/],
  ['a route of two families', { routes: [{ dst: '10.0.0.0/8', gw: 'fd00::1' }] }, 'routes[0]', /gw an address of its family/],
  ['a route with a line', { routes: [{ dst: '10.0.0.0/8\nnetns exec a reboot', gw: '10.0.0.1' }] }, 'routes[0]', /no route/],
] as const)
  test(`refused, with the field named: ${what}`, () => {
    const read = readInterfaceRequest({ ...REQUEST, ...change }, 'add');
    assert.partialDeepStrictEqual(read, { ok: false, code: 'RequestInvalid', field });
    assert.match((read as Malformed).reason, reason);
  });

test('an id of a container is what the CNI specification says, of any length', () => {
  for (const container_id of ['a', '7', 'Web-0.shop_1', 'c0ffee'.repeat(60), 'Z.', 'lo'])
    for (const verb of ['add', 'del', 'check'] as const) assert.equal(readInterfaceRequest({ ...REQUEST, container_id }, verb).ok, true);
});

test('a DEL of an interface whose name no ADD takes is read: it must not keep a pod from ending', () => {
  for (const if_name of ['lo', '-4', 'eth%d', 'é'.repeat(8)]) {
    assert.equal(readInterfaceRequest({ ...REQUEST, if_name }, 'del').ok, true);
    assert.partialDeepStrictEqual(readInterfaceRequest({ ...REQUEST, if_name }, 'check'), { ok: false, field: 'if_name' });
  }
  for (const if_name of ['net-1', 'lo0', 'eth0.100', 'é'.repeat(7)])
    assert.equal(readInterfaceRequest({ ...REQUEST, if_name }, 'add').ok, true);
});

test('without its list a GC would remove everything: refused', () => {
  for (const [body, field] of [
    [{}, 'attachments'],
    [{ attachments: null }, 'attachments'],
    [{ attachments: [null] }, 'attachments[0]'],
    [{ attachments: [{ container_id: 'a', if_name: 'eth0' }, { container_id: 'a' }] }, 'attachments[1].if_name'],
  ] as const)
    assert.partialDeepStrictEqual(readCollectRequest(body), { ok: false, code: 'RequestInvalid', field });
});

test('a field of another type is named, whatever it is', () => {
  const noText = jsonValue().filter((value) => typeof value !== 'string');
  property(
    forAll(constantFrom('container_id', 'net_ns', 'pod_name', 'pod_namespace', 'if_name', 'provider'), noText, (field, value) => {
      const read = readInterfaceRequest({ ...REQUEST, [field]: value }, 'add');
      assert.partialDeepStrictEqual(read, { ok: false, field });
      assert.ok(!read.ok && read.reason.length < 400);
    }),
  );
});

test('no body makes the agent fail, and a malformed one leaves nothing behind', async () => {
  const world = new NodeWorld();
  const requests = new RequestsTarget(world, systemClock, () => {});
  requests.restored();
  const failed: string[] = [];
  const server = new CniServer({
    socket: '',
    requests,
    notReady: () => [],
    status: () => assert.fail(),
    clock: systemClock,
    log: { ...SILENT, error: (message, fields) => void failed.push(`${message} ${JSON.stringify(fields)}`) },
  });
  const bodies: unknown[] = [];
  const collect = (arbitrary: Arbitrary<unknown>): void => property(forAll(arbitrary, (body) => void bodies.push(body)));
  collect(jsonValue());
  collect(jsonValue().map((value) => ({ ...REQUEST, routes: [value] })));
  collect(jsonValue().map((value) => ({ ...REQUEST, pod_uid: value })));
  collect(jsonValue().map((value) => ({ attachments: [value] })));
  collect(string({ unit: 'binary' }).map((text) => ({ ...REQUEST, container_id: `/${text}` })));
  let deep: unknown = null;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  bodies.push(deep, { routes: deep }, { ...REQUEST, routes: [deep] }, { attachments: deep });
  for (const body of bodies)
    for (const path of PATHS) {
      if (path !== '/api/v1/gc' && readInterfaceRequest(body, 'add').ok) continue;
      const { status, body: answer = {} } = await server.reply(path, body, new AbortController().signal);
      // An empty list is a good one.
      if (path === '/api/v1/gc' && status === 204) continue;
      assert.equal(status, 400, JSON.stringify(answer));
      assert.equal((answer as Malformed).code, 'RequestInvalid');
    }
  assert.deepEqual([failed, [...world.attachments.keys()]], [[], []]);
});
