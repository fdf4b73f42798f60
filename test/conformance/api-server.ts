/** One suite for every API server: the laboratory's and a real one must answer alike. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { accessCases } from './cases/access.ts';
import { builtInObjectCases } from './cases/built-in-objects.ts';
import { changeCases } from './cases/changes.ts';
import { collectionCases } from './cases/collections.ts';
import { customResourceCases } from './cases/custom-resources.ts';
import { discoveryCases } from './cases/discovery.ts';
import { kubectlCases } from './cases/kubectl.ts';
import { lifecycleCases } from './cases/lifecycle.ts';
import { limitCases } from './cases/limits.ts';
import { nonsenseCases } from './cases/nonsense.ts';
import { objectCases } from './cases/objects.ts';
import { patchCases } from './cases/patches.ts';
import { podCases } from './cases/pods.ts';
import { refusalCases } from './cases/refusals.ts';
import { requestCases } from './cases/requests.ts';
import { scaleCases } from './cases/scale.ts';
import { serverStateCases } from './cases/state-of-the-server.ts';
import { watchCases } from './cases/watches.ts';
import { webhookCases } from './cases/webhooks.ts';
import { at } from './context.ts';
import type { Holder } from './context.ts';
import { HttpsClient } from './https-client.ts';
import { Kubectl } from './kubectl.ts';
import { until } from '../../src/testing/until.ts';
import { definition, GROUP, kit, KITS, widget, WIDGETS } from './widgets.ts';

export interface ServerUnderTest {
  readonly kubeconfigPath: string;
  stop(): Promise<void>;
}

/**
 * Declares the suite for one server. A case that needs a newer server names the first version that supports it; it is skipped here and
 * listed.
 *
 * @param minor version of the server: 20 for v1.20. A server built from source may not report its own
 */
export function apiServerSuite(name: string, minor: number, start: () => Promise<ServerUnderTest>): void {
  describe(name, () => {
    const holder: Holder = { current: undefined, minor, notAsked: [] };
    let server: ServerUnderTest | undefined;
    let cache = '';

    before(async () => {
      server = await start();
      cache = await mkdtemp(join(tmpdir(), 'kiln-kubectl-'));
      const http = await HttpsClient.fromKubeconfig(server.kubeconfigPath);
      const kubectl = new Kubectl(server.kubeconfigPath, cache);
      holder.current = { kubectl, http, kubeconfigPath: server.kubeconfigPath };
      for (const crd of [
        definition('widgets', 'Widget', 'Cluster'),
        definition('kits', 'Kit', 'Namespaced'),
        definition('plains', 'Plain', 'Cluster', false),
      ]) {
        const reply = await http.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
        if (reply.status !== 201) throw new Error(`CustomResourceDefinition: ${reply.text}`);
      }
      await until('the definitions are served', async () => {
        const replies = await Promise.all([http.get(WIDGETS), http.get(`/apis/${GROUP}/v1/kits`), http.get(`/apis/${GROUP}/v1/plains`)]);
        return replies.every((reply) => reply.status === 200);
      });
      // A server lists new kinds in several places, in each a moment after it serves them.
      await until('the definitions are told of', async () => {
        const [groups, own, group, root] = await Promise.all(
          ['/apis', `/apis/${GROUP}/v1`, `/apis/${GROUP}`, '/'].map(async (path) => (await http.get(path)).body),
        );
        const names = (list: unknown): unknown[] => (Array.isArray(list) ? list : []).map((item) => at(item, 'name'));
        return (
          names(at(groups, 'groups')).includes(GROUP) &&
          ['widgets', 'widgets/status', 'widgets/scale', 'kits', 'plains'].every((name) => names(at(own, 'resources')).includes(name)) &&
          at(group, 'preferredVersion', 'groupVersion') === `${GROUP}/v1` &&
          ((at(root, 'paths') ?? []) as unknown[]).includes(`/apis/${GROUP}/v1`)
        );
      });
      await until(
        'the default namespace is there',
        async () => at((await http.get('/api/v1/namespaces/default')).body, 'status', 'phase') === 'Active',
      );
      for (const [path, object] of [
        [WIDGETS, widget('tried')],
        [KITS('default'), kit('tried')],
        [`/apis/${GROUP}/v1/plains`, { ...widget('tried'), kind: 'Plain' }],
      ] as const)
        await until(`objects are taken at ${path}`, async () => (await http.send('POST', `${path}?dryRun=All`, object)).status === 201);
    });

    after(async () => {
      holder.current?.http.close();
      await server?.stop();
      if (cache !== '') await rm(cache, { recursive: true, force: true });
    });

    describe('discovery', () => discoveryCases(holder));
    describe('the state of the server', () => serverStateCases(holder));
    describe('objects', () => objectCases(holder));
    describe('limits', () => limitCases(holder));
    describe('invalid objects of core kinds', () => refusalCases(holder));
    describe('changes of core kinds', () => changeCases(holder));
    describe('requests', () => requestCases(holder));
    describe('nonsense', () => nonsenseCases(holder));
    describe('patches', () => patchCases(holder));
    describe('lists', () => collectionCases(holder));
    describe('scale', () => scaleCases(holder));
    describe('watches', () => watchCases(holder));
    describe('custom resources', () => customResourceCases(holder));
    describe('pods', () => podCases(holder));
    describe('lifecycles', () => lifecycleCases(holder));
    describe('webhooks', () => webhookCases(holder));
    describe('built-in objects', () => builtInObjectCases(holder));
    describe('access', () => accessCases(holder));
    describe('kubectl', () => kubectlCases(holder));
    for (const what of holder.notAsked) process.stdout.write(`not asked of Kubernetes 1.${minor}: ${what}\n`);
  });
}
