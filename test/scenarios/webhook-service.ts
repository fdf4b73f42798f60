/**
 * The admission webhook in a cluster: behind its Service, with certificates from other issuers, and with `kubectl delete -f` of a tenant.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CertificateAuthority } from '../../src/certificates/authority.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { freePorts } from '../../lab/programs/free-port.ts';
import { applyWebhookSecret } from '../../src/testing/controller-account.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { webhookConfiguration } from '../../src/webhook/manifests/webhook-configuration.ts';
import { deniesInvalidSubnet, withWebhook, untilDenied, untilAllowed } from './admission.ts';
import { traces } from './northbound.ts';
import { condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const NAME = 'kiln-webhook.kube-system.svc';
const INJECTED = 'cert-manager.io/inject-ca-from';

/** The order in which the documents of a file are deleted. */
const ORDERS = [
  ['vpc', 'subnet', 'namespace', 'pod'],
  ['subnet', 'vpc', 'pod', 'namespace'],
  ['pod', 'vpc', 'subnet', 'namespace'],
] as const;

/** A Service without pods: the API server resolves it to this host, and verifies its DNS name. */
const serviceYaml = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'kiln-webhook', namespace: 'kube-system' },
  spec: { type: 'ExternalName', externalName: 'localhost' },
});

function authorityOf(name: string): CertificateAuthority {
  const from = Date.now() - 60_000;
  return new CertificateAuthority(name, { from, until: from + 3_600_000 });
}

function behindService(port: number): object {
  return webhookConfiguration(
    { service: { namespace: 'kube-system', name: 'kiln-webhook', path: '/validate', port } },
    UNIMPLEMENTED_KINDS.map(({ resource }) => resource),
  );
}

async function bundles(cluster: ScenarioCluster): Promise<readonly string[]> {
  const printed = await cluster.kubectl([
    'get',
    'validatingwebhookconfiguration',
    'kiln',
    '-o',
    'jsonpath={.webhooks[*].clientConfig.caBundle}',
  ]);
  return [...new Set(printed.split(' ').filter((one) => one !== ''))];
}

/** Applies a tenant of two pods, and waits until they run. @returns its manifests */
async function runningTenant(
  cluster: ScenarioCluster,
  name: string,
  at: number,
): Promise<Readonly<Record<'vpc' | 'subnet' | 'namespace' | 'pod', string>>> {
  const documents = {
    vpc: vpcYaml(name),
    subnet: subnetYaml(`${name}-net`, { vpc: name, cidrBlock: `10.18${at}.0.0/24`, namespaces: [name] }),
    namespace: namespaceYaml(name),
    pod: podYaml(name, 'web') + podYaml(name, 'db'),
  };
  await cluster.apply(documents.vpc + documents.subnet + documents.namespace + documents.pod);
  for (const pod of ['web', 'db']) await running(cluster, name, pod);
  await cluster.converged();
  return documents;
}

export const webhookService: readonly Scenario[] = [
  {
    name: 'kubectl delete -f of a whole tenant where the admission webhook denies it: what is in use is denied, and the same command a second time takes all of it, in any order',
    alone: true,
    run: async (cluster) => {
      await withWebhook(
        cluster,
        async () => {
          for (const [at, order] of ORDERS.entries()) {
            const name = `whole-${at}`;
            const documents = await runningTenant(cluster, name, at);
            const command = ['delete', '--ignore-not-found', '--timeout=120s', '-f', '-'];
            const file = order.map((part) => documents[part]).join('');
            const typed = ['delete', '--ignore-not-found', '--wait=false', '-f', '-'];
            for (const document of [documents.vpc, documents.subnet]) await untilDenied(cluster, typed, document);
            const denial = await cluster.kubectlFails(command, file);
            assert.match(denial, new RegExp(`Vpc ${name} cannot be deleted: one object still uses it: Subnet ${name}-net`));
            // The addresses of the pods are released before the command is typed again, as a user reads the message first.
            for (const pod of ['web', 'db']) await untilDeleted(cluster, 'ip', `${pod}.${name}`);
            await cluster.converged();
            await untilAllowed(cluster, typed, documents.vpc + documents.subnet);
            await cluster.kubectl(command, file);
            await untilDeleted(cluster, 'vpc', name);
            assert.equal(await cluster.find('subnet', `${name}-net`), undefined);
            await cluster.converged();
            assert.deepEqual(traces(await cluster.dump(), `${name}-net`), []);
          }
        },
        { flags: ['--webhook-deletion-in-use=deny'] },
      );
    },
  },
  {
    name: 'kubectl delete -f of a whole tenant with the admission webhook on: one command takes all of it, in any order, and what is in use waits',
    alone: true,
    run: async (cluster) => {
      await withWebhook(cluster, async () => {
        for (const [at, order] of ORDERS.entries()) {
          const name = `once-${at}`;
          const documents = await runningTenant(cluster, name, at);
          await cluster.kubectl(
            ['delete', '--ignore-not-found', '--timeout=120s', '-f', '-'],
            order.map((part) => documents[part]).join(''),
          );
          for (const [kind, gone] of [
            ['vpc', name],
            ['subnet', `${name}-net`],
          ] as const)
            assert.equal(await cluster.find(kind, gone), undefined);
          await cluster.converged();
          assert.deepEqual(traces(await cluster.dump(), `${name}-net`), []);
        }
      });
    },
  },
  {
    name: 'with the admission webhook on, a Vpc and a Subnet deleted by mistake wait, kubectl says for what, and their pods keep their network',
    alone: true,
    run: async (cluster) => {
      await withWebhook(cluster, async () => {
        await cluster.apply(
          vpcYaml('slip') +
            subnetYaml('slip-net', { vpc: 'slip', cidrBlock: '10.184.0.0/24', namespaces: ['slip'] }) +
            namespaceYaml('slip') +
            podYaml('slip', 'web'),
        );
        await running(cluster, 'slip', 'web');
        await cluster.converged();
        const before = traces(await cluster.dump(), 'slip-net');
        for (const [kind, name, waits] of [
          ['vpc', 'slip', /Warning: Vpc slip is in use: .* \(kiln explain vpc slip\): Subnet slip-net/],
          ['subnet', 'slip-net', /Warning: Subnet slip-net is in use: .* \(kiln explain subnet slip-net\): IP web\.slip/],
          ['ip', 'web.slip', /Warning: IP web\.slip is in use: .* \(kiln explain ip web\.slip\): Pod slip\/web/],
        ] as const) {
          const command = ['delete', kind, name, '--wait=false', '--warnings-as-errors'];
          await cluster.eventually(`kubectl is warned of ${kind} ${name}`, async () =>
            waits.test(await cluster.kubectlFails([...command, '--dry-run=server'])),
          );
          // kubectl alone treats the warning as an error: the deletion is accepted.
          assert.match(await cluster.kubectlFails(command), waits);
          assert.notEqual((await cluster.get(kind, name)).metadata.deletionTimestamp, undefined);
        }
        assert.match((await condition(cluster, 'vpc', 'slip', 'DeletionBlocked', 'True')).message, /Subnet slip-net/);
        assert.match((await condition(cluster, 'subnet', 'slip-net', 'DeletionBlocked', 'True')).message, /IP web\.slip/);
        await cluster.converged();
        assert.deepEqual(traces(await cluster.dump(), 'slip-net'), before, 'the rows of the running pod stay');
        // The deletion of a built-in object is denied in either mode: it would be created again.
        await untilDenied(cluster, ['delete', '--wait=false', 'vpc', 'ovn-cluster']);
        await cluster.kubectl(['delete', 'namespace', 'slip', '--timeout=120s']);
        for (const [kind, name] of [
          ['ip', 'web.slip'],
          ['subnet', 'slip-net'],
          ['vpc', 'slip'],
        ] as const)
          await untilDeleted(cluster, kind, name);
        await cluster.converged();
        assert.deepEqual(traces(await cluster.dump(), 'slip-net'), []);
      });
    },
  },
  {
    name: 'the admission webhook behind its Service: the API server uses its DNS name; a certificate from a file, and a bundle that cert-manager injects, stay unchanged',
    only: 'real',
    alone: true,
    run: async (cluster) => {
      const directory = await mkdtemp(join(tmpdir(), 'kiln-webhook-'));
      const [port = 0] = await freePorts(1);
      const configure = async (): Promise<void> => {
        await cluster.apply(serviceYaml);
        await cluster.apply(JSON.stringify(behindService(port)));
      };
      const cleared = ['delete', 'validatingwebhookconfiguration/kiln', '--ignore-not-found'];
      try {
        await applyWebhookSecret(cluster);
        // The certificate that the controller issues is for the name of the Service, without a flag for it.
        const own = cluster.startController([`--webhook-bind-address=:${port}`]);
        await own.untilLogged('webhook serves');
        await configure();
        await cluster.eventually('the API server calls the webhook behind its Service', () => deniesInvalidSubnet(cluster));
        const [published = '', ...more] = await bundles(cluster);
        assert.ok(published !== '' && more.length === 0);

        // From here on cert-manager owns the bundle.
        const foreign = Buffer.from(authorityOf('other').certificate).toString('base64');
        await cluster.kubectl(['annotate', 'validatingwebhookconfiguration', 'kiln', `${INJECTED}=kube-system/kiln`]);
        const replaced = [0, 1, 2, 3].map((at) => ({ op: 'replace', path: `/webhooks/${at}/clientConfig/caBundle`, value: foreign }));
        const count = (behindService(port) as { readonly webhooks: readonly unknown[] }).webhooks.length;
        await cluster.kubectl([
          'patch',
          'validatingwebhookconfiguration',
          'kiln',
          '--type=json',
          '-p',
          JSON.stringify(replaced.slice(0, count)),
        ]);
        await sleep(2_000);
        assert.deepEqual(await bundles(cluster), [foreign], 'Kiln leaves it');
        await cluster.kubectl(cleared);
        await own.stop();

        // The certificate comes from files, and the bundle is written by another program.
        const authority = authorityOf('given');
        const { certificate, key } = authority.issue({ name: { commonName: NAME }, purpose: 'server', hosts: [NAME] });
        const [cert, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')];
        await writeFile(cert, certificate);
        await writeFile(keyFile, key);
        const given = cluster.startController([`--webhook-bind-address=:${port}`, `--webhook-cert=${cert}`, `--webhook-key=${keyFile}`]);
        await given.untilLogged('webhook serves');
        await configure();
        const bundle = Buffer.from(authority.certificate).toString('base64');
        const added = Array.from({ length: count }, (_, at) => ({
          op: 'add',
          path: `/webhooks/${at}/clientConfig/caBundle`,
          value: bundle,
        }));
        await cluster.kubectl(['patch', 'validatingwebhookconfiguration', 'kiln', '--type=json', '-p', JSON.stringify(added)]);
        await cluster.eventually('the API server calls the webhook with the given certificate', () => deniesInvalidSubnet(cluster));
        await given.stop();
      } finally {
        await cluster.kubectl(cleared);
        await cluster.kubectl(['delete', 'service', 'kiln-webhook', '-n', 'kube-system', '--ignore-not-found']);
        await cluster.kubectl(['delete', 'secret', 'kiln-webhook-tls', '-n', 'kube-system', '--ignore-not-found']);
        await rm(directory, { recursive: true, force: true });
      }
    },
  },
];
