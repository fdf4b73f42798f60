import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { KubeClient } from '../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../src/kube/transport/connection.ts';
import { LeaderElection } from '../src/kube/leader/leader-election.ts';
import type { Lease } from '../src/kube/leader/lease.ts';
import { LEASES } from '../src/kube/resource.ts';
import { KubeTransport } from '../src/kube/transport/transport.ts';
import { LabApiServer } from './apiserver/server.ts';
import { succeed } from './former-leader.ts';

const LEASE = { namespace: 'kube-system', name: 'kiln-controller' };

async function hold(client: KubeClient, identity: string): Promise<void> {
  const spec = { holderIdentity: identity, leaseDurationSeconds: 3_600, renewTime: '2026-01-01T00:00:00.000000Z', leaseTransitions: 3 };
  const held = await client.find<Lease>(LEASES, LEASE);
  if (held === undefined) await client.create<Lease>(LEASES, { metadata: LEASE, spec });
  else await client.update<Lease>(LEASES, { ...held, spec });
}

async function holder(client: KubeClient): Promise<string> {
  return (await client.get<Lease>(LEASES, LEASE)).spec?.holderIdentity ?? '';
}

test('the Lease of the former process of the folder is free at once, the Lease of any other holder is not', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-leader-'));
  const server = new LabApiServer({ dataDir: directory });
  await server.start();
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: join(directory, 'kubeconfig') })));
  try {
    const first = await succeed(directory, client, LEASE);
    assert.equal(await client.find(LEASES, LEASE), undefined, 'there was none');
    await hold(client, first);
    const second = await succeed(directory, client, LEASE);
    assert.notEqual(second, first);
    assert.equal(await holder(client), '');

    let gained: ((transitions: number) => void) | undefined;
    const leading = new Promise<number>((done) => (gained = done));
    const election = new LeaderElection({ client, ...LEASE, identity: second, onGained: (transitions) => gained?.(transitions) }).start();
    assert.equal(await leading, 4, 'gained at the first try, though the former one had an hour left');
    await election.stop();

    await hold(client, 'somebody-beside');
    await succeed(directory, client, LEASE);
    assert.equal(await holder(client), 'somebody-beside');
  } finally {
    await client.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
});
