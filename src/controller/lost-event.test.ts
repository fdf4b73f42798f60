/** Events that the watch never delivers while others arrive: the next write of the object shows it, and its kind is listed again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeClient } from '../kube/client/client.ts';
import type { KubeObject } from '../kube/resource.ts';
import { PODS } from '../kube/resource.ts';
import type { KubeRequest, OpenWatch, WatchReader } from '../kube/transport/transport.ts';
import { KubeTransport } from '../kube/transport/transport.ts';
import { until } from '../testing/until.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import { traitsOf } from '../world/resources.ts';

/** A watch that loses the lines for which `loses` returns true. */
class LossyTransport extends KubeTransport {
  loses: (line: string) => boolean = () => false;
  lost = 0;

  override async watch(request: KubeRequest): Promise<OpenWatch> {
    const open = await super.watch(request);
    return {
      close: () => open.close(),
      read: (reader) => open.read(this.#without(reader)),
    };
  }

  #without(reader: WatchReader): WatchReader {
    let rest = Buffer.alloc(0);
    return {
      take: (chunk) => {
        const bytes = Buffer.concat([rest, chunk as Buffer]);
        const end = bytes.lastIndexOf('\n') + 1;
        rest = bytes.subarray(end);
        const lines = bytes.subarray(0, end).toString().split('\n').slice(0, -1);
        const kept = lines.filter((line) => !this.loses(line));
        this.lost += lines.length - kept.length;
        if (kept.length > 0) reader.take(Buffer.from(kept.map((line) => `${line}\n`).join('')));
      },
      ended: () => reader.ended(),
      failed: (error) => reader.failed(error),
    };
  }
}

test('a lost edit and a lost deletion are found with the next write of the object, in seconds', async () => {
  await using cluster = await InProcessCluster.start();
  const { client, ovn } = cluster;
  const create = (resource: Parameters<typeof traitsOf>[0], object: object): Promise<unknown> =>
    client.create(traitsOf(resource), object as KubeObject);
  await create('nodes', { metadata: { name: 'n1' } });
  await create('namespaces', { metadata: { name: 'shop' } });
  await create('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.44.0.0/24', namespaces: ['shop'] } });
  const transport = new LossyTransport(cluster.connection);
  await using stack = new AsyncDisposableStack();
  const lossy = new KubeClient(transport);
  stack.defer(() => lossy.close());
  await cluster.withController({ client: lossy, leaseClient: client }, async (controller) => {
    await until('the switch is there', async () => (await ovn.nbctl('ls-list')).includes('(red)'));
    await controller.untilQuiet();
    const edit = (spec: object): Promise<unknown> => client.mergePatch(traitsOf('subnets'), { name: 'red' }, { spec });

    transport.loses = (line) => line.startsWith('{"type":"MODIFIED"') && line.includes('"private":true') && transport.lost === 0;
    await edit({ private: true });
    await until('the event is lost', () => transport.lost === 1);
    await controller.untilQuiet();
    assert.equal(await ovn.nbctl('acl-list', 'red'), '');
    // For this pod the controller writes counts into the Subnet's status, and the reply shows that an event was lost.
    await client.create(PODS, {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
    } as unknown as KubeObject);
    await until('the edit is in effect', async () => (await ovn.nbctl('acl-list', 'red')).includes('drop'));
    await client.delete(PODS, { namespace: 'shop', name: 'web' }, { gracePeriodSeconds: 0 });
    await controller.untilQuiet();

    transport.loses = (line) => line.includes('"kind":"Namespace"') && line.includes('"name":"shop"');
    await client.delete(traitsOf('namespaces'), { name: 'shop' });
    await until('the namespace is gone', async () => (await client.find(traitsOf('namespaces'), { name: 'shop' })) === undefined);
    await controller.untilQuiet();
    assert.ok(controller.world.namespaces.peek('shop'));
    // The controller writes the excluded addresses into an annotation of the namespace, and the reply shows that an event was lost.
    await edit({ excludeIps: ['10.44.0.1', '10.44.0.9'] });
    await until('the deletion is known', () => controller.world.namespaces.peek('shop') === undefined);
    assert.ok(transport.lost > 1);
  });
});
