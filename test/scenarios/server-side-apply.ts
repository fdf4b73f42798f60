/** Subnets that GitOps tools apply again and again: the fields that Kiln writes into a spec cause no conflict. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { addressOf, condition, namespaceYaml, podYaml, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const GUIDE = join(import.meta.dirname, '../../../shared/reference/manifests');

interface Kind {
  readonly what: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

const KINDS: readonly Kind[] = [
  { what: 'a network alone', spec: { cidrBlock: '10.150.0.0/24' } },
  { what: 'excluded addresses without the gateway', spec: { cidrBlock: '10.150.1.0/24', excludeIps: ['10.150.1.20..10.150.1.30'] } },
  { what: 'both', spec: { cidrBlock: '10.150.2.0/24', gateway: '10.150.2.254', excludeIps: ['10.150.2.254', '10.150.2.9'] } },
  { what: 'dual stack', spec: { cidrBlock: '10.150.3.0/24,fd00:150:3::/64', excludeIps: ['fd00:150:3::9'] } },
  { what: 'IPv6', spec: { cidrBlock: 'fd00:150:4::/64', protocol: 'IPv6' } },
  { what: 'a list that is empty', spec: { cidrBlock: '10.150.5.0/24', excludeIps: [] } },
  { what: 'private', spec: { cidrBlock: '10.150.6.0/24', private: true, allowSubnets: ['10.16.0.0/16'] } },
  { what: 'DHCP', spec: { cidrBlock: '10.150.7.0/24', enableDHCP: true, dhcpV4Options: 'lease_time=3600' } },
  { what: 'centralized', spec: { cidrBlock: '10.150.8.0/24', gatewayType: 'centralized', gatewayNode: 'node-1', natOutgoing: true } },
  { what: 'addresses of another plugin', spec: { cidrBlock: '10.150.9.0/24', provider: 'macvlan.default' } },
];

/** Fields in examples of the guide that no Subnet has: a spelling mistake of the guide. The API server rejects such an object on apply. */
const INVALID_IN_GUIDE: ReadonlySet<string> = new Set(['cidr']);

/** Subnets of the guide, if it is available: one of each set of fields. Each is renamed and applied alone, so that they do not conflict. */
function guideKinds(): readonly Kind[] {
  if (!existsSync(GUIDE)) return [];
  const found = readdirSync(GUIDE).flatMap((file) =>
    parseAllDocuments(readFileSync(join(GUIDE, file), 'utf8')).flatMap((document) => {
      if (document.errors.length > 0) return [];
      const { kind, spec } = (document.toJS() ?? {}) as { readonly kind?: string; readonly spec?: Readonly<Record<string, unknown>> };
      return kind === 'Subnet' && spec !== undefined && !Object.keys(spec).some((field) => INVALID_IN_GUIDE.has(field))
        ? [{ what: file, spec }]
        : [];
    }),
  );
  return [...new Map(found.map((one) => [Object.keys(one.spec).sort().join(), one])).values()];
}

async function serverSideApply(cluster: ScenarioCluster, yaml: string): Promise<void> {
  await cluster.kubectl(['apply', '--server-side', '--field-manager=argocd-controller', '--validate=false', '-f', '-'], yaml);
}

export const serverSideApplies: readonly Scenario[] = [
  {
    name: 'Subnets applied server-side, twice, of every kind in the user guide: no conflict with what Kiln wrote in between',
    only: 'real',
    alone: true,
    run: async (cluster) => {
      for (const [at, { what, spec }] of [...KINDS, ...guideKinds()].entries()) {
        const name = `applied-${at}`;
        await serverSideApply(cluster, subnetYaml(name, spec));
        await cluster.eventually(`Subnet ${name} (${what}) is accepted or invalid`, async () => {
          const { status } = await cluster.get('subnet', name);
          return (status?.conditions ?? []).some(({ type }) => type === 'Ready');
        });
        await cluster.converged();
        const before = await cluster.get('subnet', name);
        await serverSideApply(cluster, subnetYaml(name, spec)).catch((error: unknown) => assert.fail(`${what}: ${String(error)}`));
        await cluster.converged();
        const after = await cluster.get('subnet', name);
        assert.deepEqual(after.spec, before.spec, what);
        const switched = { ...spec, private: true, default: false };
        await serverSideApply(cluster, subnetYaml(name, switched)).catch((error: unknown) =>
          assert.fail(`${what}, private: ${String(error)}`),
        );
        await cluster.removeAll(subnetYaml(name, {}));
      }
    },
  },
  {
    name: 'a Subnet applied server-side without its gateway in excludeIps: no pod gets the gateway, and the list is as applied',
    only: 'real',
    run: async (cluster) => {
      const excludeIps = ['10.151.0.3'];
      const subnet = subnetYaml('ssa-net', { vpc: 'ssa', cidrBlock: '10.151.0.0/29', namespaces: ['ssa'], excludeIps });
      await cluster.apply(vpcYaml('ssa') + namespaceYaml('ssa'));
      await serverSideApply(cluster, subnet);
      await condition(cluster, 'subnet', 'ssa-net', 'Ready', 'True');
      await cluster.apply(podYaml('ssa', 'one') + podYaml('ssa', 'two'));
      const addresses = [await addressOf(cluster, 'ssa', 'one'), await addressOf(cluster, 'ssa', 'two')];
      assert.deepEqual(addresses.toSorted(), ['10.151.0.2', '10.151.0.4']);
      await serverSideApply(cluster, subnet);
      const { spec } = (await cluster.get('subnet', 'ssa-net')) as {
        readonly spec?: { readonly excludeIps?: unknown; readonly gateway?: unknown };
      };
      assert.deepEqual([spec?.excludeIps, spec?.gateway], [excludeIps, '10.151.0.1']);
      await cluster.removeAll(subnet + namespaceYaml('ssa') + vpcYaml('ssa'));
    },
  },
];
