import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { KubeClient } from '../../kube/client/client.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { KubeError } from '../../kube/errors.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { scaleOrDeleteOwners } from './cascade-owners.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { RequestRetry } from '../connection/request-retry.ts';
import { DEPLOYMENT } from '../testing/deployment.ts';

interface Server {
  readonly io: CommandIo;
  readonly messages: string[];
  readonly replicas: () => number | undefined;
}

/**
 * One Deployment with 3 replicas.
 * @param answers to the requests, in order; `lost`: the server executes the request, but the reply is lost
 */
function server(...answers: readonly ('lost' | KubeErrorCode | 'ok')[]): Server {
  const messages: string[] = [];
  let replicas: number | undefined = 3;
  let asked = 0;
  const transport: Transport = {
    request: ({ method, subject, body }) => {
      const answer = answers[asked++] ?? 'ok';
      if (answer !== 'ok' && answer !== 'lost') return Promise.reject(new KubeError(answer, subject, 'not now'));
      if (replicas === undefined) return Promise.reject(new KubeError('KUBE_NOT_FOUND', subject, 'gone'));
      if (method === 'DELETE') replicas = undefined;
      if (method === 'PATCH') replicas = (body as { readonly spec: { readonly replicas: number } }).spec.replicas;
      if (answer === 'lost') return Promise.reject(new KubeError('KUBE_DISCONNECTED', subject, 'reset'));
      return Promise.resolve({ metadata: { name: 'web', namespace: 'shop', uid: 'u' }, spec: { replicas } });
    },
    text: () => Promise.resolve(''),
    stream: () => Promise.resolve(Readable.from([])),
    watch: () => Promise.resolve({ read: () => undefined, close: () => undefined }),
    streamFailure: (subject) => new KubeError('KUBE_DISCONNECTED', subject, ''),
    close: () => Promise.resolve(),
  };
  const io = { client: new KubeClient(transport), say: (text: string) => void messages.push(text) } as unknown as CommandIo;
  return { io, messages, replicas: () => replicas };
}

const retry = ({ messages }: Server, ms = 30_000): RequestRetry => new RequestRetry(ms, (text) => void messages.push(text));

test('a request to scale is retried during an outage of the API server, and the command to undo it names the former scale', async () => {
  const one = server('KUBE_UNAVAILABLE', 'ok', 'lost', 'ok');
  await scaleOrDeleteOwners([DEPLOYMENT], 'scale', one.io, retry(one));
  assert.equal(one.replicas(), 0);
  assert.match(one.messages[0] ?? '', /^the API server does not accept requests now; the command retries: KUBE_UNAVAILABLE: .*not now/);
  assert.match(one.messages[1] ?? '', /^the API server does not accept requests now; the command retries: KUBE_DISCONNECTED/);
  assert.deepEqual(one.messages.slice(2), ['Deployment shop/web scaled to 0; to undo: kubectl scale deployment web -n shop --replicas=3']);
});

test('an owner whose deletion lost its reply counts as deleted', async () => {
  const one = server('lost');
  await scaleOrDeleteOwners([DEPLOYMENT], 'delete', one.io, retry(one));
  assert.equal(one.messages.at(-1), 'Deployment shop/web is deleted already');
});

test('a rejected request ends the cascade at once, an outage after the timeout', async () => {
  const refused = server('KUBE_FORBIDDEN');
  await assert.rejects(scaleOrDeleteOwners([DEPLOYMENT], 'delete', refused.io, retry(refused)), { code: 'KUBE_FORBIDDEN' });
  assert.deepEqual(refused.messages, []);
  const away = server(...Array.from({ length: 9 }, () => 'KUBE_UNAVAILABLE' as const));
  await assert.rejects(scaleOrDeleteOwners([DEPLOYMENT], 'delete', away.io, retry(away, 10)), { code: 'KUBE_UNAVAILABLE' });
  assert.equal(away.replicas(), 3);
});

test('workloads that stay are not changed, and owners that cannot be scaled are reported before the first write', async () => {
  const one = server();
  await scaleOrDeleteOwners([DEPLOYMENT], 'keep', one.io, retry(one));
  assert.equal(one.replicas(), 3);
  await assert.rejects(scaleOrDeleteOwners([DEPLOYMENT, { ...DEPLOYMENT, name: 'ds', scales: false }], 'scale', one.io, retry(one)), {
    why: 'Deployment shop/ds cannot be scaled',
  });
  assert.equal(one.replicas(), 3);
});

test('the command continues when the controller creates no more pods: a Deployment has none, others have observed their scale', async () => {
  const looks: { observedGeneration?: number; replicas?: number }[] = [];
  const answered: string[] = [];
  const client = {
    get: () => Promise.resolve({ metadata: { name: 'web' }, spec: { replicas: 2 } }),
    mergePatch: () => Promise.resolve({}),
    find: () => {
      const status = looks.shift() ?? assert.fail('it looks once more than needed');
      answered.push(`${status.observedGeneration}/${status.replicas}`);
      return Promise.resolve({ metadata: { name: 'web', generation: 2 }, status });
    },
  };
  const io = { client, say: () => undefined } as unknown as CommandIo;
  const settled = async (kind: string, ...states: typeof looks): Promise<void> => {
    looks.push(...states);
    const workload = { ...DEPLOYMENT, resource: { ...DEPLOYMENT.resource, kind } };
    await scaleOrDeleteOwners([workload], 'scale', io, new RequestRetry(30_000, () => undefined));
    assert.deepEqual(looks, []);
  };
  await settled('Deployment', { observedGeneration: 1, replicas: 2 }, { observedGeneration: 2, replicas: 2 }, { observedGeneration: 2 });
  await settled('StatefulSet', { observedGeneration: 1, replicas: 2 }, { observedGeneration: 2, replicas: 2 });
  // Nothing runs this one.
  await settled('ReplicaSet', {});
  assert.equal(answered.length, 6);
});
