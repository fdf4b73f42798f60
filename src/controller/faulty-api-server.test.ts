/** Wrong answers of an API server, over real sockets: the rows of running pods survive each, and the controller recovers by itself. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject, Resource } from '../kube/resource.ts';
import { PODS } from '../kube/resource.ts';
import { until } from '../testing/until.ts';
import { jsonLog } from '../runtime/json-log.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import type { ListBody } from '../testing/faulty-proxy.ts';
import { FaultyProxy } from '../testing/faulty-proxy.ts';
import { traitsOf } from '../world/resources.ts';
import type { Controller } from './controller.ts';

const TIMES = { durationMs: 8_000, renewMs: 6_000, retryMs: 500 } as const;
const NAMES = ['a', 'b', 'c'];

let cluster: InProcessCluster;
let proxy: FaultyProxy;
let lines: string[];
const nbctl = (...args: string[]): Promise<string> => cluster.ovn.nbctl(...args);

before(async () => {
  cluster = await InProcessCluster.start();
  const create = (resource: Resource, object: object): Promise<unknown> => cluster.client.create(resource, object as KubeObject);
  await create(traitsOf('nodes'), {
    metadata: { name: 'n1' },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] },
  });
  await cluster.client.mergePatch(
    traitsOf('nodes'),
    { name: 'n1' },
    { status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] } },
    { subresource: 'status' },
  );
  for (const name of NAMES)
    await create(PODS, {
      metadata: { name, namespace: 'default' },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
    });
});
after(() => cluster.stop());

/** All rows that a pod, a node or a network needs. */
async function rows(): Promise<string> {
  const listed = await Promise.all(
    ['Logical_Switch', 'Logical_Switch_Port', 'Logical_Router', 'Logical_Router_Port', 'Logical_Router_Policy'].map((table) =>
      nbctl('--columns=_uuid', '--format=csv', 'list', table),
    ),
  );
  return listed.map((text) => text.split('\n').toSorted().join('\n')).join('\n');
}

async function ips(): Promise<readonly string[]> {
  return (await cluster.client.list(traitsOf('ips'))).items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).toSorted();
}

async function withProxy(use: (start: () => Promise<Controller>) => Promise<void>): Promise<void> {
  lines = [];
  proxy = await FaultyProxy.start(cluster.connection);
  let controller: Controller | undefined;
  try {
    await use(() => {
      controller = cluster.controller({
        client: proxy.client(),
        leaseClient: cluster.client,
        lease: TIMES,
        collectionLimit: false,
        log: jsonLog('info', (line) => lines.push(line)),
      });
      controller.start();
      return Promise.resolve(controller);
    });
  } finally {
    await controller?.stop();
    await proxy.close();
  }
}

/** Waits until a list of one of these kinds was requested again, and its effects had time to show. */
async function askedAgain(plurals: readonly string[]): Promise<void> {
  const from = proxy.asked.length;
  const isList = ({ path, query }: (typeof proxy.asked)[number]): boolean =>
    !query.has('watch') && plurals.includes(path.split('/').at(-1) ?? '');
  await until('a list is asked for again', () => proxy.asked.slice(from).some(isList));
  await sleep(300);
}

const isBound = async (name: string): Promise<boolean> =>
  (await nbctl('--bare', '--columns=name', 'list', 'Logical_Switch_Port')).split('\n').includes(`${name}.default`);

test('the pods run', async () => {
  await withProxy(async (start) => {
    const controller = await start();
    await controller.untilQuiet();
    for (const name of NAMES) assert.ok(await isBound(name), name);
  });
});

const noItems = ({ kind, apiVersion, metadata }: ListBody): unknown => ({ kind, apiVersion, metadata });
const LIES: readonly { readonly what: string; readonly plurals: readonly string[]; readonly write: (list: ListBody) => unknown }[] = [
  { what: 'lists without items', plurals: ['pods', 'nodes', 'vpcs', 'subnets'], write: noItems },
  {
    what: 'a Status',
    plurals: ['pods', 'nodes', 'vpcs', 'subnets'],
    write: ({ metadata }) => ({ kind: 'Status', apiVersion: 'v1', metadata, status: 'Success' }),
  },
  {
    what: 'a list of another kind',
    plurals: ['pods', 'nodes', 'subnets'],
    write: (list) => ({ ...list, kind: 'ConfigMapList', items: [] }),
  },
  {
    what: 'items of another kind',
    plurals: ['pods'],
    write: (list) => ({ ...list, items: list.items.map((item) => ({ ...item, kind: 'Node' })) }),
  },
  {
    what: 'items without a uid',
    plurals: ['pods'],
    write: (list) => ({ ...list, items: list.items.map(({ metadata: { name } }) => ({ metadata: { name } })) }),
  },
  { what: 'empty lists of pods', plurals: ['pods'], write: (list) => ({ ...list, items: [] }) },
  { what: 'empty lists of nodes', plurals: ['nodes'], write: (list) => ({ ...list, items: [] }) },
  { what: 'empty lists of Subnets and Vpcs', plurals: ['subnets', 'vpcs'], write: (list) => ({ ...list, items: [] }) },
  {
    what: 'empty lists of everything',
    plurals: ['pods', 'nodes', 'namespaces', 'subnets', 'vpcs', 'ips'],
    write: (list) => ({ ...list, items: [] }),
  },
  { what: 'a list that lacks one pod', plurals: ['pods'], write: (list) => ({ ...list, items: list.items.slice(1) }) },
];

for (const { what, plurals, write } of LIES) {
  test(`${what}, at the start: nothing is written before the answers are right`, async () => {
    const [before, had] = [await rows(), await ips()];
    await withProxy(async (start) => {
      proxy.tamperLists(plurals, write);
      const controller = await start();
      await until('it is reported', () => Promise.resolve(lines.some((line) => /KUBE_PROTOCOL|KUBE_LIST_DOUBTED/.test(line))));
      await askedAgain(plurals);
      assert.equal(await rows(), before);
      assert.deepEqual(await ips(), had);
      assert.notDeepEqual(controller.waitingFor, [], 'it is not ready');
      proxy.tamper = undefined;
      await until('it is ready', () => Promise.resolve(controller.waitingFor.length === 0));
      await controller.untilQuiet();
      assert.equal(await rows(), before);
      assert.deepEqual(await ips(), had);
      assert.deepEqual(controller.plan(), { rows: [], objects: [] });
    });
  });

  test(`${what}, after a lost watch: running pods keep their rows, and new pods are bound afterwards`, async () => {
    const name = `later-${LIES.findIndex((lie) => lie.what === what)}`;
    await withProxy(async (start) => {
      const controller = await start();
      await controller.untilQuiet();
      const [before, had] = [await rows(), await ips()];
      // Every resumed watch is answered with 410, so that the cache relists.
      const plain = { plurals, write };
      proxy.tamperLists(plain.plurals, plain.write);
      const lie = proxy.tamper;
      proxy.tamper = (asked, response, list) => {
        if (!asked.query.has('watch') || !plurals.includes(asked.path.split('/').at(-1) ?? '')) return lie?.(asked, response, list);
        response.writeHead(410, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' }),
        );
        return Promise.resolve();
      };
      proxy.breakConnections();
      await until('it is reported', () => Promise.resolve(lines.some((line) => /KUBE_PROTOCOL|KUBE_LIST_DOUBTED/.test(line))));
      await askedAgain(plurals);
      assert.equal(await rows(), before);
      assert.deepEqual(await ips(), had);
      assert.notDeepEqual(controller.waitingFor, [], 'it is not ready');
      proxy.tamper = undefined;
      await cluster.client.create(PODS, {
        metadata: { name, namespace: 'default' },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
      } as KubeObject);
      await until('it is ready', () => Promise.resolve(controller.waitingFor.length === 0));
      await until('the new pod has its port', () => isBound(name));
      await cluster.client.delete(PODS, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
      await until('its row is gone', async () => !(await isBound(name)));
      await controller.untilQuiet();
      assert.equal(await rows(), before);
    });
  });
}

test('rows of objects that were deleted without a running controller are collected right after a start', async () => {
  await cluster.client.create(PODS, {
    metadata: { name: 'short', namespace: 'default' },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  } as KubeObject);
  await withProxy(async (start) => {
    await (await start()).untilQuiet();
    assert.ok(await isBound('short'));
  });
  await cluster.client.delete(PODS, { namespace: 'default', name: 'short' }, { gracePeriodSeconds: 0 });
  await withProxy(async (start) => {
    const controller = await start();
    await controller.untilQuiet();
    assert.equal(await isBound('short'), false);
    assert.ok(
      proxy.asked.some(({ path }) => path.endsWith('/pods/short')),
      'the controller read it by name',
    );
    assert.equal(
      (await ips()).some((name) => name.startsWith('short.')),
      false,
    );
  });
});
