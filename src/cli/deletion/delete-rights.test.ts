import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { TreeObject } from '../../explain/dependents.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeRequest, Transport } from '../../kube/transport/transport.ts';
import { CommandFailure } from '../errors/command-failure.ts';
import { requireDeleteRights } from './delete-rights.ts';
import { DEPLOYMENT } from '../testing/deployment.ts';

const SUBNETS = { resource: 'subnets', namespace: '', name: 'red' };
const PODS = ['a', 'b'].map((name) => ({ resource: 'pods', namespace: 'shop', name }));
const STEPS = [...PODS, SUBNETS] as unknown as readonly TreeObject[];

/**
 * An API server that answers access reviews.
 * @param answer gets `verb plural namespace`, and returns whether that is allowed
 */
function reviewing(answer: (asked: string) => boolean): { readonly client: KubeClient; readonly asked: string[] } {
  const asked: string[] = [];
  const transport: Transport = {
    request: ({ body }: KubeRequest) => {
      const { spec } = body as { spec: { resourceAttributes: Readonly<Record<string, string>> } };
      const { verb = '', resource = '', group = '', namespace = '' } = spec.resourceAttributes;
      const text = `${verb} ${resource}.${group} ${namespace}`;
      asked.push(text);
      return Promise.resolve({ kind: 'SelfSubjectAccessReview', metadata: {}, status: { allowed: answer(text) } });
    },
    text: () => Promise.resolve(''),
    stream: () => Promise.resolve(Readable.from([])),
    watch: () => Promise.resolve({ read: () => undefined, close: () => undefined }),
    streamFailure: (subject) => new KubeError('KUBE_DISCONNECTED', subject, ''),
    close: () => Promise.resolve(),
  };
  return { client: new KubeClient(transport), asked };
}

test('rights are checked once for each kind and namespace, and for owners only where they change', async () => {
  const { client, asked } = reviewing(() => true);
  await requireDeleteRights(client, STEPS, [DEPLOYMENT], 'keep');
  assert.deepEqual(asked, ['delete pods. shop', 'delete subnets.kubeovn.io ']);
  await requireDeleteRights(client, STEPS, [DEPLOYMENT], 'scale');
  assert.equal(asked.at(-1), 'patch deployments.apps shop');
  await requireDeleteRights(client, STEPS, [DEPLOYMENT], 'delete');
  assert.equal(asked.at(-1), 'delete deployments.apps shop');
});

test('every right that is missing is named, exit 3, with a command that shows the first', async () => {
  const { client } = reviewing((asked) => asked.startsWith('delete pods'));
  await assert.rejects(requireDeleteRights(client, STEPS, [DEPLOYMENT], 'scale'), (error) => {
    assert.ok(error instanceof CommandFailure);
    assert.deepEqual(
      [error.exit, error.message, error.why, error.next],
      [
        3,
        'nothing was deleted',
        'you may not delete subnets.kubeovn.io, patch deployments.apps in namespace shop',
        'kubectl auth can-i delete subnets.kubeovn.io',
      ],
    );
    return true;
  });
});

test('a user without the right to check rights learns them from the deletion', async () => {
  const transport = { request: ({ subject }: KubeRequest) => Promise.reject(new KubeError('KUBE_FORBIDDEN', subject, 'no')) };
  const client = new KubeClient(transport as unknown as Transport);
  await assert.doesNotReject(requireDeleteRights(client, STEPS, [], 'keep'));
});
