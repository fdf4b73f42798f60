import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../../kube/client/client.ts';
import type { Clock } from '../../timing/clock.ts';
import { systemClock } from '../../timing/clock.ts';
import { connectionFromKubeconfig } from '../../kube/transport/connection.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { LabApiServer } from '../../../lab/apiserver/server.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { certificatesIn } from './certificate-plan.ts';
import type { WebhookConfiguration } from '../manifests/webhook-configuration.ts';
import { WEBHOOK_CONFIGURATIONS, webhookConfiguration } from '../manifests/webhook-configuration.ts';

const SECRETS: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
/** Lifetime of a certificate, by the clock that the test advances. */
const LIFETIME_S = 90;
/** Lifetime of a certificate that must not be replaced, however long a test takes. */
const MONTHS_MS = 90 * 24 * 3_600_000;
const NAME = { namespace: 'kube-system', name: 'kiln-webhook-tls' };

interface TlsSecret extends KubeObject {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

let directory: string;
let api: LabApiServer;
let client: KubeClient;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kiln-keeper-'));
  api = new LabApiServer({ dataDir: directory });
  await api.start();
  client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: join(directory, 'kubeconfig') })));
});
after(async () => {
  await client.close();
  await api.stop();
  await rm(directory, { recursive: true });
});

/** A replica, with the certificates it served, in order. */
function replica(
  lifetimeMs: number,
  log: Log = SILENT,
  clock: Clock = systemClock,
): { readonly served: string[]; readonly keeper: CertificateKeeper } {
  const served: string[] = [];
  const keeper = new CertificateKeeper({
    client,
    namespace: NAME.namespace,
    secret: NAME.name,
    configuration: 'kiln',
    hosts: ['kiln-webhook.kube-system.svc'],
    lifetimeMs,
    log,
    clock,
    use: ({ certificate }) => served.push(certificate),
  });
  keeper.start();
  return { served, keeper };
}

async function bundles(): Promise<readonly string[]> {
  const { webhooks = [] } = await client.get<WebhookConfiguration>(WEBHOOK_CONFIGURATIONS, { name: 'kiln' });
  return webhooks.map(({ clientConfig }) => Buffer.from(clientConfig.caBundle ?? '', 'base64').toString());
}

const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString();

const trusts = (bundle: string, pem: string): boolean =>
  certificatesIn(bundle).some((ca) => new X509Certificate(pem).verify(new X509Certificate(ca).publicKey));

test('replicas that start together share one certificate; what a user removes is restored; it rotates and is trusted all the time', async () => {
  await client.create(WEBHOOK_CONFIGURATIONS, webhookConfiguration({ url: 'https://127.0.0.1:1/validate' }, []));
  const clock = new ManualClock();
  const replicas = Array.from({ length: 3 }, () => replica(LIFETIME_S * 1_000, SILENT, clock));
  const serving = (): readonly string[] => replicas.map(({ served }) => served.at(-1) ?? '');
  try {
    await until('all serve one', () => serving()[0] !== '' && new Set(serving()).size === 1);
    assert.deepEqual(
      replicas.map(({ served }) => served.length),
      [1, 1, 1],
    );
    await until('it is published', async () => (await bundles()).every((bundle) => trusts(bundle, serving()[0] ?? '')));

    const rotations = (): number => Math.min(...replicas.map(({ served }) => served.length)) - 1;
    for (let seconds = 0; rotations() < 2; seconds++) {
      assert.ok(seconds < 10 * LIFETIME_S, `only ${rotations()} rotations in ${seconds} s`);
      clock.advance(1_000);
      await until('all follow the Secret', async () => {
        const served = serving();
        const shown = await bundles();
        // A replica that adopted the next certificate during the comparison of the bundles is compared in the next pass.
        if (serving().join() === served.join())
          assert.ok(
            served.every((pem) => shown.every((bundle) => trusts(bundle, pem))),
            `one is not trusted after ${seconds} s`,
          );
        const { data } = await client.get<TlsSecret>(SECRETS, NAME);
        return serving().every((pem) => pem === decoded(data['tls.crt'])) && shown.every((bundle) => bundle === decoded(data['ca.crt']));
      });
    }
    assert.ok((await bundles()).every((bundle) => certificatesIn(bundle).length <= 2));

    await client.jsonPatch(WEBHOOK_CONFIGURATIONS, { name: 'kiln' }, [{ op: 'remove', path: '/webhooks/1/clientConfig/caBundle' }]);
    await until('a bundle that was taken away is back', async () => (await bundles()).every((bundle) => certificatesIn(bundle).length > 0));
    const before = serving();
    await client.delete(SECRETS, NAME);
    await until('another is made, and all serve it', () => serving().every((pem) => pem === serving()[0] && !before.includes(pem)));
    await until('and trusted', async () => (await bundles()).every((bundle) => trusts(bundle, serving()[0] ?? '')));
  } finally {
    await Promise.all(replicas.map(({ keeper }) => keeper.close()));
  }
});

test('two replicas of which one has a clock that is years ahead do not replace the certificate of each other without end', async () => {
  const steps: string[] = [];
  const log = { ...SILENT, info: (message: string) => steps.push(message) };
  const [right, ahead] = [new ManualClock(), new ManualClock()];
  const wall = ahead.wallTime.bind(ahead);
  ahead.wallTime = () => wall() + 10 * 365 * 24 * 3_600_000;
  await client.delete(SECRETS, NAME);
  const replicas = [replica(MONTHS_MS, log, right), replica(MONTHS_MS, log, ahead)];
  const made = (): number => steps.filter((step) => step === 'webhook certificate').length;
  try {
    await until('each has made one that it can serve', () => replicas.every(({ served }) => served.length > 0) && made() >= 2);
    await sleep(1_000);
    // At most three certificates: the first one does not replace another.
    assert.ok(made() <= 3, `${made()} were made at once`);
    // The wall clock is corrected.
    ahead.wallTime = wall;
    await until('both serve one that has begun', () => {
      for (const clock of [right, ahead]) clock.advance(10_000);
      const [one, other] = replicas.map(({ served }) => served.at(-1) ?? '');
      return one === other && Date.parse(new X509Certificate(one ?? '').validFrom) <= right.wallTime();
    });
  } finally {
    await Promise.all(replicas.map(({ keeper }) => keeper.close()));
    await client.delete(SECRETS, NAME);
  }
});

test('a configuration of cert-manager stays unchanged, and if it trusts another authority than the served one, that is logged once', async () => {
  for (const how of ['inject-ca-from', 'inject-ca-from-secret']) {
    const annotation = `cert-manager.io/${how}`;
    const annotate = (value: string | null): Promise<unknown> =>
      client.mergePatch(WEBHOOK_CONFIGURATIONS, { name: 'kiln' }, { metadata: { annotations: { [annotation]: value } } });
    await annotate('kube-system/kiln');
    await client.jsonPatch(WEBHOOK_CONFIGURATIONS, { name: 'kiln' }, [
      { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: Buffer.from('theirs').toString('base64') },
    ]);
    const warnings: unknown[] = [];
    const { keeper, served } = replica(MONTHS_MS, { ...SILENT, warn: (message, fields) => warnings.push([message, fields?.['next']]) });
    try {
      await until('it serves', () => served.length > 0);
      await until('the log has it', () => warnings.length > 0);
      await client.mergePatch(WEBHOOK_CONFIGURATIONS, { name: 'kiln' }, { metadata: { annotations: { touched: how } } });
      await sleep(300);
      assert.equal((await bundles())[0], 'theirs');
      assert.deepEqual(warnings, [
        [
          'the API server does not trust the certificate of the webhook',
          `name cert-manager's files (--webhook-cert, --webhook-key), or kubectl annotate validatingwebhookconfiguration kiln ${annotation}-`,
        ],
      ]);
      await annotate(null);
      await until('it is its own again', async () => (await bundles()).every((bundle) => trusts(bundle, served.at(-1) ?? '')));
      assert.equal(warnings.length, 1);
    } finally {
      await keeper.close();
    }
  }
});

test('a webhook that a user sets to Fail stays so; if it then denies every pod, that is logged once', async () => {
  const warnings: (readonly [string, unknown])[] = [];
  const { keeper, served } = replica(MONTHS_MS, { ...SILENT, warn: (message, fields) => warnings.push([message, fields?.['error']]) });
  const policies = async (): Promise<unknown> => {
    const { webhooks = [] } = await client.get<WebhookConfiguration>(WEBHOOK_CONFIGURATIONS, { name: 'kiln' });
    return webhooks.map(({ failurePolicy }) => failurePolicy);
  };
  const set = (at: number, field: string, value: unknown): Promise<unknown> =>
    client.jsonPatch(WEBHOOK_CONFIGURATIONS, { name: 'kiln' }, [{ op: 'add', path: `/webhooks/${at}/${field}`, value }]);
  try {
    await until('it serves', () => served.length > 0);
    for (const at of [0, 1, 2]) await set(at, 'failurePolicy', 'Fail');
    await sleep(300);
    assert.deepEqual(warnings, []);
    await set(3, 'failurePolicy', 'Fail');
    await until('the log has it', () => warnings.length > 0);
    await set(3, 'timeoutSeconds', 2);
    await sleep(300);
    assert.deepEqual(warnings, [
      [
        'no pod can be created while the webhook does not answer, and so no replica of Kiln either',
        'ValidatingWebhookConfiguration kiln: pods.kiln.io has failurePolicy Fail for every pod, also those of this controller',
      ],
    ]);
    assert.deepEqual(await policies(), ['Fail', 'Fail', 'Fail', 'Fail']);
    const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system'] }];
    // A configuration that became open and closed again between two looks has not changed.
    await until('it is said again', async () => {
      await set(3, 'namespaceSelector', { matchExpressions });
      await sleep(50);
      await client.jsonPatch(WEBHOOK_CONFIGURATIONS, { name: 'kiln' }, [{ op: 'remove', path: '/webhooks/3/namespaceSelector' }]);
      return warnings.length > 1;
    });
  } finally {
    await keeper.close();
  }
});

/**
 * A keeper whose API server gives it no Secret.
 * @param warned is called with each warning of the keeper
 */
async function withoutSecret(
  server: LabApiServer,
  warned: (message: string, error: unknown, next: unknown) => void,
  run: () => Promise<void>,
): Promise<void> {
  await server.start();
  const path = await mkdtemp(join(directory, 'without-secret-'));
  await server.writeKubeconfig(join(path, 'kubeconfig'));
  const other = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: join(path, 'kubeconfig') })));
  const keeper = new CertificateKeeper({
    client: other,
    namespace: NAME.namespace,
    secret: NAME.name,
    configuration: 'kiln',
    hosts: ['x'],
    lifetimeMs: 90_000,
    log: { ...SILENT, warn: (message, fields) => warned(message, fields?.['error'], fields?.['next']) },
    use: () => assert.fail('there is none to use'),
  });
  keeper.start();
  try {
    await run();
  } finally {
    await keeper.close();
    await other.close();
    await server.stop();
  }
}

test('missing rights are logged once, and retried', async () => {
  const warnings: string[] = [];
  const refusing = new LabApiServer();
  refusing.faults.add({
    match: { resources: ['secrets'] },
    fault: { kind: 'error', code: 403, reason: 'Forbidden', message: 'secrets is forbidden' },
  });
  await withoutSecret(
    refusing,
    (message) => warnings.push(message),
    async () => {
      await until('the log has it', () => warnings.length > 0);
      await sleep(1_500);
      assert.deepEqual(warnings, ['the certificate of the webhook cannot be stored']);
    },
  );
});

test('an outage of the API server is logged by the controller alone; rights lost meanwhile are logged here', async () => {
  const warnings: unknown[] = [];
  const away = new LabApiServer();
  for (const resources of [['secrets'], ['validatingwebhookconfigurations.admissionregistration.k8s.io']])
    away.faults.add({ match: { resources }, fault: { kind: 'error', code: 503, message: 'not now' } });
  await withoutSecret(
    away,
    (_, error) => warnings.push(error),
    async () => {
      await until('both were asked for twice', () => away.faults.list().every(({ struck }) => struck > 1));
      assert.deepEqual(warnings, []);
      away.faults.remove();
      away.faults.add({
        match: { resources: ['secrets'] },
        fault: { kind: 'error', code: 403, reason: 'Forbidden', message: 'no longer' },
      });
      await until('the log has it', () => warnings.length > 0);
      assert.match(String(warnings[0]), /no longer/);
    },
  );
});

test('the Secret is a TLS Secret that other programs read', async () => {
  const secret = await client.get<TlsSecret>(SECRETS, NAME);
  assert.equal(secret.type, 'kubernetes.io/tls');
  assert.ok(['ca.crt', 'tls.crt', 'tls.key'].every((key) => key in secret.data));
});

test('the empty Secret of the manifest is filled in, and not replaced by one of another type', async () => {
  await client.delete(SECRETS, NAME);
  const { uid } = (await client.create<KubeObject>(SECRETS, { metadata: { namespace: NAME.namespace, name: NAME.name } })).metadata;
  const steps: unknown[] = [];
  const log: Log = { ...SILENT, info: (_, fields) => steps.push(fields?.['step']) };
  const { served, keeper } = replica(MONTHS_MS, log);
  try {
    await until('it is served', () => served.length === 1);
    const secret = await client.get<TlsSecret>(SECRETS, NAME);
    assert.deepEqual([secret.metadata.uid, secret.type, decoded(secret.data['tls.crt'])], [uid, 'Opaque', served[0]]);
    assert.equal(steps[0], 'first');
  } finally {
    await keeper.close();
  }
});

test('if the Secret is absent and may not be created, the log names the manifest that has it', async () => {
  const reported: string[] = [];
  const limited = new LabApiServer();
  limited.faults.add({
    match: { resources: ['secrets'], verbs: ['create'] },
    fault: { kind: 'error', code: 403, reason: 'Forbidden', message: 'secrets is forbidden' },
  });
  await withoutSecret(
    limited,
    (_message, _error, next) => reported.push(String(next)),
    async () => {
      await until('the log has it', () => reported.length > 0);
      assert.match(reported[0] ?? '', /^the webhook serves its present certificate, if any; kubectl apply -f deploy\/webhook\.yaml /);
    },
  );
});
