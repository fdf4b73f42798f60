/** The admission webhook: what kubectl prints when it denies a request, and that everything stays correct without it. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import { deniesInvalidSubnet, withWebhook, untilDenied, untilAllowed } from './admission.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const tenant = (name: string, cidrBlock: string): string =>
  vpcYaml(name) + subnetYaml(`${name}-net`, { vpc: name, cidrBlock, namespaces: [name] }) + namespaceYaml(name);

const ip = (name: string, spec: object): string =>
  `---\napiVersion: kubeovn.io/v1\nkind: IP\nmetadata: {name: ${name}}\nspec: ${JSON.stringify(spec)}\n`;

/** A deletion of an object in use is denied instead of accepted with a warning. */
const DENIES = ['--webhook-deletion-in-use=deny'];

export const webhook: readonly Scenario[] = [
  {
    name: 'the admission webhook answers an API server without a certificate whether it denies, and names no object of another tenant',
    alone: true,
    run: async (cluster) => {
      await withWebhook(
        cluster,
        async () => {
          const all = tenant('hidden', '10.168.0.0/24');
          await cluster.apply(all + podYaml('hidden', 'web'));
          const address = await addressOf(cluster, 'hidden', 'web');
          await cluster.converged();
          const deletion = ['delete', '--wait=false', 'subnet', 'hidden-net'];
          await untilDenied(cluster, deletion);
          const blocked = await cluster.kubectlFails(deletion);
          assert.match(
            blocked,
            /Subnet hidden-net cannot be deleted: other objects still use it; kiln explain subnet hidden-net shows what \(names of other objects are left out/,
          );
          const taken = podYaml('hidden', 'two', { annotations: { 'ovn.kubernetes.io/ip_address': address } });
          await untilDenied(cluster, ['create', '--validate=false', '-f', '-'], taken);
          const held = await cluster.kubectlFails(['create', '--validate=false', '-f', '-'], taken);
          assert.match(held, /Pod two cannot be created like this/);
          for (const text of [blocked, held]) assert.doesNotMatch(text, /web\.hidden|hidden\/web|10\.168\./);
          // A message about the request itself is printed as it is.
          const nonsense = subnetYaml('hidden-two', { cidrBlock: '10.169.0.0/24', gateway: '10.9.0.1' });
          assert.match(await cluster.kubectlFails(['create', '--validate=false', '-f', '-'], nonsense), /spec\.gateway.*10\.9\.0\.1/s);
          await cluster.kubectl(['delete', 'validatingwebhookconfiguration', 'kiln']);
          await cluster.removeAll(all);
          await untilDeleted(cluster, 'vpc', 'hidden');
        },
        { knows: false, flags: DENIES },
      );
    },
  },
  {
    name: 'with the admission webhook kubectl shows what the rules would report; it checks dry runs too, and a standby answers',
    alone: true,
    run: async (cluster) => {
      await withWebhook(
        cluster,
        async () => {
          const all = tenant('asks', '10.160.0.0/24');
          await cluster.apply(all + podYaml('asks', 'web'));
          const address = await addressOf(cluster, 'asks', 'web');
          await cluster.converged();
          for (const what of [
            ['vpc', 'asks'],
            ['subnet', 'asks-net'],
            ['ip', 'web.asks'],
          ])
            await untilDenied(cluster, ['delete', '--wait=false', ...what]);
          const denied = async (patterns: readonly RegExp[], args: readonly string[], input?: string): Promise<void> => {
            const text = await cluster.kubectlFails(args, input);
            for (const pattern of patterns) assert.match(text, pattern);
          };
          const apply = ['apply', '--validate=false', '-f', '-'];
          await denied(
            [/Vpc asks cannot be deleted: one object still uses it: Subnet asks-net/],
            ['delete', 'vpc', 'asks', '--wait=false'],
          );
          await denied([/Subnet asks-net cannot be deleted: one object still uses it: IP web\.asks/], ['delete', 'subnet', 'asks-net']);
          await denied([/IP web\.asks cannot be deleted: one object still uses it: Pod asks\/web/], ['delete', 'ip', 'web.asks']);
          await denied(
            [/is invalid|Invalid/, /overlaps 10\.160\.0\.0\/24 of Subnet asks-net/],
            apply,
            subnetYaml('asks-two', { vpc: 'asks', cidrBlock: '10.160.0.0/16' }),
          );
          await denied(
            [/spec\.gateway/, /10\.9\.0\.1/],
            apply,
            subnetYaml('asks-two', { vpc: 'asks', cidrBlock: '10.161.0.0/24', gateway: '10.9.0.1' }),
          );
          await denied([/a Subnet does not move/], ['patch', 'subnet', 'asks-net', '--type=merge', '-p', '{"spec":{"vpc":"ovn-cluster"}}']);
          await denied(
            [/ip_address/, /10\.9\.0\.9/],
            apply,
            podYaml('asks', 'out', { annotations: { 'ovn.kubernetes.io/ip_address': '10.9.0.9' } }),
          );
          await denied(
            [/is held by web\.asks/],
            apply,
            podYaml('asks', 'two', { annotations: { 'ovn.kubernetes.io/ip_address': address } }),
          );
          await denied([/ip_address/, /ten/], apply, podYaml('asks', 'odd', { annotations: { 'ovn.kubernetes.io/ip_address': 'ten' } }));
          await denied(
            [/is held by web\.asks/],
            apply,
            ip('db.asks', { subnet: 'asks-net', podName: 'db', namespace: 'asks', ipAddress: address }),
          );
          await denied([/cannot be deleted/], ['delete', 'vpc', 'asks', '--dry-run=server']);
          await denied(
            [/is invalid|Invalid/],
            ['create', '--dry-run=server', '--validate=false', '-f', '-'],
            subnetYaml('asks-dry', { cidrBlock: 'no' }),
          );
          await cluster.kubectl(
            ['create', '--dry-run=server', '--validate=false', '-f', '-'],
            subnetYaml('asks-dry', { vpc: 'asks', cidrBlock: '10.162.0.0/24' }),
          );
          for (const name of ['asks-two', 'asks-dry']) assert.equal(await cluster.find('subnet', name), undefined);
          assert.deepEqual(await cluster.names('pods', 'asks'), ['web']);
          assert.equal((await cluster.get('vpc', 'asks')).metadata.deletionTimestamp, undefined, 'it was not even begun');
          // Deletions are allowed from the leaves upwards.
          await cluster.kubectl(['delete', 'pod', 'web', '-n', 'asks']);
          await untilDeleted(cluster, 'ip', 'web.asks');
          // The webhook observes the deletion by its own watches, a moment later.
          for (const [kind, name] of [
            ['subnet', 'asks-net'],
            ['vpc', 'asks'],
          ] as const)
            await cluster.eventually(`${kind} ${name} is let through`, async () => {
              await cluster.kubectl(['delete', kind, name, '--ignore-not-found']);
              return true;
            });
          await cluster.kubectl(['delete', 'namespace', 'asks', '--wait=false']);
        },
        { flags: DENIES },
      );
    },
  },
  {
    name: 'the admission webhook hinders neither a namespace that is being deleted, nor an edit of finalizers, nor foreign kinds',
    alone: true,
    run: async (cluster) => {
      await withWebhook(cluster, async () => {
        const all = tenant('lets', '10.163.0.0/24');
        await cluster.apply(all + podYaml('lets', 'web'));
        await running(cluster, 'lets', 'web');
        await cluster.kubectl(['create', 'configmap', 'other', '-n', 'lets', '--from-literal=cidrBlock=nonsense']);
        await cluster.kubectl(['delete', 'configmap', 'other', '-n', 'lets']);
        await cluster.patch('ip', 'web.lets', { metadata: { finalizers: [] } });
        await cluster.patch('subnet', 'lets-net', { metadata: { finalizers: [], labels: { mine: 'yes' } } });
        await cluster.converged();
        await cluster.kubectl(['delete', 'namespace', 'lets', '--timeout=120s']);
        await untilDeleted(cluster, 'ip', 'web.lets');
        await untilAllowed(cluster, ['delete', '--wait=false', 'subnet', 'lets-net']);
        await cluster.removeAll(subnetYaml('lets-net', {}));
        await untilAllowed(cluster, ['delete', '--wait=false', 'vpc', 'lets']);
        await cluster.removeAll(vpcYaml('lets'));
      });
    },
  },
  {
    name: "with the admission webhook down the API server accepts everything, and conditions have the webhook's messages",
    alone: true,
    run: async (cluster) => {
      await withWebhook(cluster, async ({ controller }) => {
        const all = tenant('down', '10.164.0.0/24');
        await cluster.apply(all + podYaml('down', 'web'));
        await running(cluster, 'down', 'web');
        const overlapping = subnetYaml('down-two', { vpc: 'down', cidrBlock: '10.164.0.0/16' });
        await untilDenied(cluster, ['create', '--validate=false', '-f', '-'], overlapping);
        const denial = await cluster.kubectlFails(['create', '--validate=false', '-f', '-'], overlapping);
        await controller.kill9();
        await cluster.apply(overlapping);
        const { message } = await condition(cluster, 'subnet', 'down-two', 'Ready', 'False');
        // The condition of a stored object also names the command that corrects it.
        const [sentence = ''] = message.split('; kubectl edit');
        assert.ok(denial.includes(sentence), `denied with: ${denial}; reported as: ${message}`);
        await cluster.deleteAll(vpcYaml('down'));
        assert.match(
          (await condition(cluster, 'vpc', 'down', 'DeletionBlocked', 'True')).message,
          /^Vpc down cannot be deleted: 2 objects still use it/,
        );
        await cluster.removeAll(overlapping + tenant('down', ''));
        await untilDeleted(cluster, 'vpc', 'down');
      });
    },
  },
  {
    name: "the admission webhook's certificate is rotated under load, and no request gets past the webhook",
    alone: true,
    run: async (cluster) => {
      await withWebhook(
        cluster,
        async ({ controller }) => {
          const rotations = async (): Promise<number> =>
            (await controller.log()).filter(({ msg, step }) => msg === 'webhook certificate' && step === 'promoted').length;
          const before = await rotations();
          const allowed: number[] = [];
          const began = performance.now();
          let requests = 0;
          while (requests <= 20 || (await rotations()) < before + 2) {
            requests++;
            if (!(await deniesInvalidSubnet(cluster))) allowed.push(Math.round(performance.now() - began));
            if (performance.now() - began > 5 * PATIENCE_MS) throw new Error(`not rotated twice in ${(5 * PATIENCE_MS) / 1_000} s`);
            await sleep(50);
          }
          assert.deepEqual(allowed, [], `of ${requests} requests some got past the webhook`);
        },
        { flags: ['--webhook-certificate-lifetime=40s'] },
      );
    },
  },
];
