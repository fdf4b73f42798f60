import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message, newNamespace } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';
import type { AdmissionReview, Answer, WebhookUnderTest } from '../webhook-under-test.ts';
import { startWebhook } from '../webhook-under-test.ts';
import { widget, WIDGETS } from '../widgets.ts';

const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const ALLOWED: Answer = { allowed: true };

export function webhookCases(holder: Holder): void {
  const open: { readonly hook: WebhookUnderTest; readonly path: string }[] = [];
  after(async () => {
    for (const { hook, path } of open) {
      await conformance(holder).http.send('DELETE', path);
      hook.close();
    }
  });

  /** Configures a webhook for labelled objects of a new namespace, and waits until the API server calls it. */
  const hooked = async (
    rule: Fields,
    answer: (review: AdmissionReview) => Answer,
    options: Fields = {},
    url: (port: number) => string = (port) => `https://127.0.0.1:${port}/validate`,
  ): Promise<{ readonly namespace: string; readonly hook: WebhookUnderTest; readonly name: string; readonly path: string }> => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const name = fresh('hook');
    const hook = await startWebhook((review) => (review.request.name === 'probe' ? ALLOWED : answer(review)));
    await http.patch(`/api/v1/namespaces/${namespace}`, 'merge-patch', { metadata: { labels: { hooked: name } } });
    const probes = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts'], scope: '*' };
    const reply = await http.send('POST', HOOKS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: url(hook.port), caBundle: hook.caBundle },
          namespaceSelector: { matchLabels: { hooked: name } },
          rules: [rule],
          ...options,
        },
        {
          name: 'probe.example.com',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: `https://127.0.0.1:${hook.port}/probe`, caBundle: hook.caBundle },
          namespaceSelector: { matchLabels: { hooked: name } },
          rules: [probes],
        },
      ],
    });
    assert.equal(reply.status, 201, reply.text);
    open.push({ hook, path: `${HOOKS}/${name}` });
    const probe = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'probe' } };
    await until('the server asks the webhook', async () => {
      await http.send('POST', `/api/v1/namespaces/${namespace}/serviceaccounts?dryRun=All`, probe);
      return hook.paths.some((path) => path.startsWith('/probe'));
    });
    hook.reviews.length = 0;
    hook.paths.length = 0;
    return { namespace, hook, name, path: `/api/v1/namespaces/${namespace}/configmaps` };
  };
  const maps = (...operations: readonly string[]): Fields => ({
    apiGroups: [''],
    apiVersions: ['v1'],
    operations,
    resources: ['configmaps'],
  });

  test('the fields of a review', async () => {
    const { http } = conformance(holder);
    const { hook, path, namespace } = await hooked(maps('*'), () => ALLOWED);
    await http.send('POST', path, configMap('m', { a: '1' }));
    await http.patch(`${path}/m`, 'merge-patch', { data: { a: '2' } });
    await http.send('DELETE', `${path}/m`);
    const [created, updated, deleted] = hook.reviews;
    assert.deepEqual([created?.apiVersion, created?.kind], ['admission.k8s.io/v1', 'AdmissionReview']);
    const common = {
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'm',
      namespace,
      dryRun: false,
    };
    for (const [review, operation] of [
      [created, 'CREATE'],
      [updated, 'UPDATE'],
      [deleted, 'DELETE'],
    ] as const) {
      const { uid, object, oldObject, options, userInfo, ...rest } = review?.request ?? assert.fail(operation);
      assert.match(uid, /^[0-9a-f-]{36}$/);
      assert.deepEqual(rest, { ...common, operation });
      assert.deepEqual(
        [at(object, 'data', 'a'), at(oldObject, 'data', 'a')],
        operation === 'CREATE' ? ['1', undefined] : operation === 'UPDATE' ? ['2', '1'] : [undefined, '2'],
      );
      const kind = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' }[operation];
      assert.deepEqual([at(options, 'kind'), at(options, 'apiVersion')], [kind, 'meta.k8s.io/v1']);
      assert.equal(typeof at(userInfo, 'username'), 'string');
      assert.ok((at(userInfo, 'groups') as string[]).includes('system:masters'));
    }
    assert.equal(at(created?.request, 'object', 'apiVersion'), 'v1');
    assert.equal(at(created?.request, 'object', 'kind'), 'ConfigMap');
    assert.match(String(at(created?.request, 'object', 'metadata', 'uid')), /^[0-9a-f-]{36}$/);
    assert.equal(at(updated?.request, 'object', 'metadata', 'uid'), at(deleted?.request, 'oldObject', 'metadata', 'uid'));
    assert.match(hook.paths[0] ?? '', /^\/validate\?timeout=10s$/);
  });

  test('a review names the user, also an impersonated one', async () => {
    const { http } = conformance(holder);
    const { hook, path } = await hooked(maps('*'), () => ALLOWED);
    await http.send('POST', path, configMap('m', {}), { 'Impersonate-User': 'jane', 'Impersonate-Group': 'system:masters' });
    await http.send('DELETE', `${path}/m`);
    const [created, deleted] = hook.reviews.map((review) => at(review.request, 'userInfo'));
    assert.deepEqual([at(created, 'username'), at(created, 'groups')], ['jane', ['system:masters', 'system:authenticated']]);
    assert.notEqual(at(deleted, 'username'), 'jane');
  });

  test('a denial: its code, reason and message; warnings; one without a message', async () => {
    const { http } = conformance(holder);
    const { path, name } = await hooked(maps('CREATE'), ({ request }) => {
      if (request.name === 'bare') return { allowed: false };
      if (request.name === 'coded') return { allowed: false, status: { code: 422, reason: 'Invalid', message: 'spec.a: no' } };
      if (request.name === 'said') return { allowed: false, status: { message: 'because' } };
      return { allowed: true, warnings: ['mind this'] };
    });
    const bare = await http.send('POST', path, configMap('bare'));
    assert.equal(bare.status, 400, bare.text);
    assert.equal(message(bare), `admission webhook "${name}.example.com" denied the request without explanation`);
    const coded = await http.send('POST', path, configMap('coded'));
    assert.deepEqual(
      [coded.status, coded.body['reason'], message(coded)],
      [422, 'Invalid', `admission webhook "${name}.example.com" denied the request: spec.a: no`],
    );
    const said = await http.send('POST', path, configMap('said'));
    assert.deepEqual([said.status, message(said)], [400, `admission webhook "${name}.example.com" denied the request: because`]);
    assert.equal((await http.get(`${path}/said`)).status, 404);
    const allowed = await http.send('POST', path, configMap('fine'));
    assert.equal(allowed.status, 201);
    assert.equal(allowed.headers['warning'], '299 - "mind this"');
  });

  test('failurePolicy: a webhook that cannot be reached, gives an invalid answer or is too slow', async () => {
    const { http } = conformance(holder);
    const answer = ({ request }: AdmissionReview): Answer =>
      request.name?.startsWith('slow') === true ? undefined : request.name?.startsWith('broken') === true ? 500 : {};
    // A long timeout for the webhook that answers, and a short one for the one that never does.
    const cases = [
      ['slow', 1, /context deadline exceeded|Client\.Timeout/],
      ['broken', 30, /500|an error on the server/],
    ] as const;
    for (const [name, timeoutSeconds, why] of cases) {
      const strict = await hooked(maps('CREATE'), answer, { failurePolicy: 'Fail', timeoutSeconds });
      // If the server or the webhook stalls for the whole second, the timeout ends before the request arrives.
      let tries = 0;
      await until('the webhook is asked', async () => {
        tries++;
        const reply = await http.send('POST', strict.path, configMap(name));
        assert.equal(reply.status, 500, reply.text);
        assert.equal(reply.body['reason'], 'InternalError');
        assert.match(message(reply), new RegExp(`^Internal error occurred: failed calling webhook "${strict.name}\\.example\\.com": `));
        assert.match(message(reply), why);
        return strict.hook.paths.length > 0;
      });
      assert.deepEqual([...new Set(strict.hook.paths)], [`/validate?timeout=${timeoutSeconds}s`]);
      assert.ok(strict.hook.paths.length <= tries, `asked ${strict.hook.paths.length} times by ${tries} requests`);
      const lenient = await hooked(maps('CREATE'), answer, { failurePolicy: 'Ignore', timeoutSeconds });
      assert.equal((await http.send('POST', lenient.path, configMap(name))).status, 201);
    }
    const closed = await hooked(
      maps('CREATE'),
      () => ALLOWED,
      { failurePolicy: 'Fail' },
      () => 'https://127.0.0.1:1/validate',
    );
    const rejected = await http.send('POST', closed.path, configMap('m'));
    assert.equal(rejected.status, 500);
    assert.match(message(rejected), /connection refused/);
  });

  test('a review tells whether it is a dry run', async () => {
    const { http } = conformance(holder);
    const { hook, path } = await hooked(maps('CREATE', 'DELETE'), () => ALLOWED);
    assert.equal((await http.send('POST', `${path}?dryRun=All`, configMap('m'))).status, 201);
    assert.equal(hook.reviews[0]?.request['dryRun'], true);
    assert.equal((await http.get(`${path}/m`)).status, 404);
  });

  test('the server rejects dry runs where a webhook has side effects', async () => {
    const { http } = conformance(holder);
    const { path, namespace } = await hooked(maps('CREATE'), () => ALLOWED);
    assert.notEqual(namespace, '');
    const unclear = await http.send('POST', HOOKS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: fresh('unclear') },
      webhooks: [
        { name: 'u.example.com', admissionReviewVersions: ['v1'], sideEffects: 'Some', clientConfig: { url: 'https://127.0.0.1:1/' } },
      ],
    });
    assert.equal(unclear.status, 422, path);
    assert.match(message(unclear), /webhooks\[0\]\.sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"/);
  });

  test('namespaceSelector and objectSelector', async () => {
    const { http } = conformance(holder);
    const { hook, path } = await hooked(maps('CREATE', 'UPDATE'), () => ({ allowed: false }), {
      objectSelector: { matchExpressions: [{ key: 'check', operator: 'In', values: ['yes'] }] },
    });
    const elsewhere = `/api/v1/namespaces/${await newNamespace(holder)}/configmaps`;
    const marked = configMap('m', {}, { labels: { check: 'yes' } });
    assert.equal((await http.send('POST', elsewhere, marked)).status, 201);
    assert.equal((await http.send('POST', path, configMap('plain'))).status, 201);
    assert.equal(hook.reviews.length, 0);
    assert.equal((await http.send('POST', path, marked)).status, 400);
    assert.equal((await http.patch(`${path}/plain`, 'merge-patch', { metadata: { labels: { check: 'yes' } } })).status, 400);
    assert.deepEqual(new Set(hook.reviews.map(({ request }) => request.name)), new Set(['m', 'plain']));
  });

  test('cluster-scoped objects are matched by their own labels, and a rule by its scope', async () => {
    const { http } = conformance(holder);
    const mark = fresh('mark');
    const rule = { apiGroups: ['lab.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'], scope: 'Cluster' };
    const { hook, name } = await hooked(rule, () => ({ allowed: false }), {
      namespaceSelector: { matchLabels: { hooked: 'by-namespace-only' } },
      objectSelector: { matchLabels: { mark } },
    });
    const rejected = await http.send('POST', WIDGETS, widget(fresh('w'), {}, { labels: { mark } }));
    assert.equal(rejected.status, 400, rejected.text);
    assert.match(message(rejected), new RegExp(`"${name}\\.example\\.com" denied`));
    assert.equal(at(hook.reviews[0]?.request, 'namespace'), undefined);
    assert.equal(at(hook.reviews[0]?.request, 'kind', 'group'), 'lab.example.com');
  });

  test('a rule names subresources', async () => {
    const { http } = conformance(holder);
    const mark = fresh('mark');
    const rule = { apiGroups: ['lab.example.com'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['widgets/status'] };
    const { hook } = await hooked(rule, () => ALLOWED, { namespaceSelector: {}, objectSelector: { matchLabels: { mark } } });
    const name = fresh('w');
    await http.send('POST', WIDGETS, widget(name, {}, { labels: { mark } }));
    await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { spec: { mtu: 1400 } });
    assert.equal(hook.reviews.length, 0);
    await http.patch(`${WIDGETS}/${name}/status`, 'merge-patch', { status: { available: 1 } });
    assert.equal(hook.reviews[0]?.request['subResource'], 'status');
    assert.equal(hook.reviews[0]?.request['requestSubResource'], 'status');
  });

  test('matchPolicy: Equivalent converts to the version of the rule, Exact does not call the webhook', async () => {
    const { http } = conformance(holder);
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['events'] };
    const event = (namespace: string, group: string): [string, Fields] => [
      `/apis/${group}/namespaces/${namespace}/events`,
      {
        ...{ apiVersion: group, kind: 'Event', metadata: { name: fresh('e') }, eventTime: '2024-01-01T00:00:00.000000Z' },
        ...{ regarding: { kind: 'Pod', name: 'p', namespace }, reason: 'R', action: 'A', type: 'Normal', note: 'n' },
        ...{ reportingController: 'example.com/c', reportingInstance: 'i' },
      },
    ];
    const equivalent = await hooked(rule, () => ALLOWED, { matchPolicy: 'Equivalent' });
    const asked = await http.send('POST', ...event(equivalent.namespace, 'events.k8s.io/v1'));
    assert.equal(asked.status, 201, asked.text);
    const request = equivalent.hook.reviews[0]?.request;
    assert.deepEqual(request?.['kind'], { group: '', version: 'v1', kind: 'Event' });
    assert.deepEqual(request?.['resource'], { group: '', version: 'v1', resource: 'events' });
    assert.deepEqual(request?.['requestKind'], { group: 'events.k8s.io', version: 'v1', kind: 'Event' });
    assert.deepEqual(request?.['requestResource'], { group: 'events.k8s.io', version: 'v1', resource: 'events' });
    assert.deepEqual([at(request, 'object', 'apiVersion'), at(request, 'object', 'involvedObject', 'name')], ['v1', 'p']);
    const exact = await hooked(rule, () => ALLOWED, { matchPolicy: 'Exact' });
    assert.equal((await http.send('POST', ...event(exact.namespace, 'events.k8s.io/v1'))).status, 201);
    assert.equal(exact.hook.reviews.length, 0);
  });

  test('the webhook reviews each object of a collection that is deleted', async () => {
    const { http } = conformance(holder);
    const { hook, path } = await hooked(maps('DELETE'), ({ request }) => ({
      allowed: at(request, 'oldObject', 'metadata', 'name') !== 'b',
    }));
    for (const name of ['a', 'b']) await http.send('POST', path, configMap(name, {}, { labels: { mine: 'yes' } }));
    const reply = await http.send('DELETE', `${path}?labelSelector=mine`);
    assert.equal(reply.status, 400, reply.text);
    assert.equal((await http.get(`${path}/b`)).status, 200);
    const asked = hook.reviews.map(({ request }) => [request.operation, request.name, at(request, 'oldObject', 'metadata', 'name')]);
    assert.deepEqual(asked, [
      ['DELETE', undefined, 'a'],
      ['DELETE', undefined, 'b'],
    ]);
  });

  test('defaults and validation of a configuration', async () => {
    const { http } = conformance(holder);
    const { name } = await hooked(maps('CREATE'), () => ALLOWED);
    const read = await http.get(`${HOOKS}/${name}`);
    const webhook = at(read.body, 'webhooks', 0) as Fields;
    assert.deepEqual(
      [
        webhook['failurePolicy'],
        webhook['matchPolicy'],
        webhook['timeoutSeconds'],
        webhook['objectSelector'],
        at(webhook, 'rules', 0, 'scope'),
      ],
      ['Fail', 'Equivalent', 10, {}, '*'],
    );
    const wrong = async (changes: Fields): Promise<string> => {
      const reply = await http.send('POST', HOOKS, {
        ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name: fresh('wrong') } },
        webhooks: [{ ...webhook, ...changes }],
      });
      assert.equal(reply.status, 422, JSON.stringify(changes));
      return message(reply);
    };
    assert.match(
      await wrong({ name: 'short' }),
      /webhooks\[0\]\.name: Invalid value: "short": should be a domain with at least three segments/,
    );
    assert.match(
      await wrong({ timeoutSeconds: 31 }),
      /webhooks\[0\]\.timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds/,
    );
    assert.match(
      await wrong({ failurePolicy: 'Maybe' }),
      /webhooks\[0\]\.failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"/,
    );
    assert.match(
      await wrong({ clientConfig: {} }),
      /webhooks\[0\]\.clientConfig: Required value: exactly one of url or service is required/,
    );
    assert.match(
      await wrong({ clientConfig: { url: 'http://a.example.com' } }),
      /clientConfig\.url: Invalid value: "http": 'https' is the only allowed URL scheme/,
    );
    assert.match(await wrong({ admissionReviewVersions: ['v7'] }), /webhooks\[0\]\.admissionReviewVersions/);
    assert.match(await wrong({ rules: [{ ...maps('EAT') }] }), /webhooks\[0\]\.rules\[0\]\.operations\[0\]: Unsupported value: "EAT"/);
  });
}
