/** The CustomResourceDefinitions on a real kube-apiserver: all apply, default, prune and show what they declare. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { allKinds, crdYaml } from '../../src/api/kinds/crds.ts';
import { GROUP } from '../../src/api/schema/kind.ts';
import { findKubernetesProgram } from '../../src/lab/programs/kubernetes.ts';
import { apiServerMinor, missingClusterPrograms, RealCluster } from '../../src/lab/real-cluster/real-cluster.ts';
import { until } from './kubectl.ts';

const missing = missingClusterPrograms() ?? (findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : undefined);
const minor = missing === undefined ? await apiServerMinor() : 0;
/** Rules in CEL, fields refused by their names, and OpenAPI v3 are all there. */
const isCurrent = minor >= 27;
const reference = (path: string): string => fileURLToPath(new URL(`../../../shared/reference/${path}`, import.meta.url));
const theirCrds = reference('kube-ovn-crds.yaml');
const manifests = reference('manifests');
const noReference = existsSync(theirCrds) && existsSync(manifests) ? false : "Kube-OVN's definitions and examples are not on this machine";

interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
}

/** Every object of the group in the examples of Kube-OVN's user guide. */
const examples = (): { readonly file: string; readonly object: Manifest }[] =>
  readdirSync(manifests)
    .filter((file) => /\.ya?ml$/.test(file))
    .flatMap((file) =>
      parseAllDocuments(readFileSync(`${manifests}/${file}`, 'utf8'))
        .filter((document) => document.errors.length === 0)
        .map((document) => ({ file, object: (document.toJS() ?? {}) as Manifest })),
    )
    .filter(({ object }) => object.apiVersion === `${GROUP}/v1`);

const succeeds = (command: Promise<unknown>): Promise<boolean> =>
  command.then(
    () => true,
    () => false,
  );

describe('CRDs on a real kube-apiserver', { skip: missing ?? false }, () => {
  let cluster: RealCluster;
  /** A line for each kind, as kubectl lists them. */
  const served = async (): Promise<readonly string[]> =>
    (await cluster.kubectl(['api-resources', `--api-group=${GROUP}`, '--no-headers'])).trim().split('\n');
  before(async () => {
    cluster = new RealCluster({ controllerManager: false });
    await cluster.start();
    await cluster.kubectl(['apply', '-f', '-'], crdYaml({ cel: minor >= 25 }));
    // kubectl fails where a definition has no conditions yet.
    const established = ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s'];
    await until('all definitions are established', () => succeeds(cluster.kubectl(established)));
    // A kind is served a moment after its definition says so, and objects of it are taken a moment after that.
    await until('all kinds are served', async () => (await served()).length === allKinds.length);
    const items = allKinds.map(({ kind }) => ({ apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'tried' }, spec: {} }));
    const tried = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await until('objects of all kinds are looked at', async () => {
      const said = await cluster
        .kubectl(['create', '--validate=false', '--dry-run=server', '-f', '-'], tried)
        .catch((error: unknown) => String(error));
      return !/NotFound|no matches for kind|panic/.test(said);
    });
  });
  after(async () => {
    await cluster.stop();
  });

  test('every kind is served under its names', async () => {
    const lines = await served();
    assert.equal(lines.length, allKinds.length);
    for (const kind of allKinds) {
      const line = lines.find((text) => text.startsWith(`${kind.plural} `)) ?? assert.fail(`${kind.plural} is not served`);
      const words = line.split(/\s+/);
      assert.equal(words.at(-1), kind.kind);
      assert.equal(words.at(-2), String(kind.scope === 'Namespaced'));
      for (const name of kind.shortNames ?? []) if (name !== kind.plural) assert.ok(line.includes(name), `${kind.kind} is also ${name}`);
    }
  });

  test('no condition of a definition complains', async () => {
    const path = '{range .items[*]}{.metadata.name}{range .status.conditions[*]} {.type}={.status}{end}{"\\n"}{end}';
    const lines = (await cluster.kubectl(['get', 'crd', '-o', `jsonpath=${path}`])).trim().split('\n');
    assert.equal(lines.length, 25);
    for (const line of lines) assert.match(line, /^\S+\.kubeovn\.io NamesAccepted=True Established=True$/);
  });

  test('a field that no schema has is pruned, a default is filled in', async () => {
    const pool = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'IPPool',
      metadata: { name: 'p' },
      spec: { subnet: 's', ips: ['10.0.0.1'], nonsense: 1 },
    };
    await cluster.kubectl(['apply', '--validate=false', '-f', '-'], JSON.stringify(pool));
    const stored = JSON.parse(await cluster.kubectl(['get', 'ippool', 'p', '-o', 'json'])) as { readonly spec: unknown };
    assert.deepEqual(stored.spec, { subnet: 's', ips: ['10.0.0.1'], enableAddressSet: false });
  });

  test('an object that breaks its schema is refused', async () => {
    const vlan = { apiVersion: 'kubeovn.io/v1', kind: 'Vlan', metadata: { name: 'v' }, spec: { id: 4096, provider: 'p' } };
    await assert.rejects(cluster.kubectl(['apply', '--validate=false', '-f', '-'], JSON.stringify(vlan)), /spec\.id.*4095/);
  });

  const currentTest = (name: string, body: () => Promise<void>): void => {
    if (isCurrent) test(name, body);
    else process.stdout.write(`not asked of Kubernetes 1.${minor}: ${name} (first in Kubernetes 1.27)\n`);
  };

  currentTest('a rule in CEL is held, one field beside another and the new value beside the old', async () => {
    const gateway = { apiVersion: 'kubeovn.io/v1', kind: 'VpcEgressGateway', metadata: { name: 'g', namespace: 'default' } };
    const refused = cluster.kubectl(['apply', '-f', '-'], JSON.stringify({ ...gateway, spec: { externalSubnet: 'ext', replicas: 1 } }));
    await assert.rejects(refused, /a VpcEgressGateway needs a policy or a selector/);
    const resolver = (name: string): string =>
      JSON.stringify({ apiVersion: 'kubeovn.io/v1', kind: 'DNSNameResolver', metadata: { name: 'd' }, spec: { name } });
    await cluster.kubectl(['apply', '-f', '-'], resolver('www.example.com.'));
    await assert.rejects(
      cluster.kubectl(['apply', '-f', '-'], resolver('other.example.com.')),
      /the name of a DNSNameResolver cannot change/,
    );
  });

  currentTest('a field that no schema has is refused by its name, as kubectl asks for by default', async () => {
    const vpc = { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name: 'typed' }, spec: { namespace: ['shop'] } };
    await assert.rejects(cluster.kubectl(['apply', '-f', '-'], JSON.stringify(vpc)), /unknown field "spec\.namespace"/);
  });

  currentTest('OpenAPI v3 describes every kind, and kubectl explain reads it', async () => {
    const { components } = JSON.parse(await cluster.kubectl(['get', '--raw', `/openapi/v3/apis/${GROUP}/v1`])) as {
      readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
    };
    for (const { kind } of allKinds) assert.ok(components.schemas[`io.kubeovn.v1.${kind}`] !== undefined, kind);
    assert.match(await cluster.kubectl(['explain', 'subnet.spec.excludeIps']), /^FIELD: excludeIps <\[\]string>$/m);
  });

  test('columns show what they name', async () => {
    const subnet = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name: 'shown' },
      spec: { cidrBlock: '10.1.0.0/16', provider: 'ovn', vpc: 'v1', natOutgoing: true, excludeIps: ['10.1.0.1'] },
    };
    await cluster.kubectl(['apply', '-f', '-'], JSON.stringify(subnet));
    const [header = '', row = ''] = (await cluster.kubectl(['get', 'subnet', 'shown'])).trim().split('\n');
    assert.equal(
      header.trim().split(/\s+/).join(' '),
      'NAME PROVIDER VPC VLAN PROTOCOL CIDR PRIVATE NAT DEFAULT GATEWAYTYPE V4USED V4AVAILABLE V6USED V6AVAILABLE EXCLUDEIPS U2OINTERCONNECTIONIP',
    );
    assert.match(row, /^shown\s+ovn\s+v1\s+10\.1\.0\.0\/16\s+true\s+\["10\.1\.0\.1"\]/);
  });

  /** The examples that the server refuses with the definitions that it has now. */
  const refused = async (): Promise<string[]> => {
    const out: string[] = [];
    for (const { file, object } of examples())
      await cluster
        .kubectl(['apply', '--validate=false', '--dry-run=server', '-f', '-'], JSON.stringify(object))
        .catch(() => out.push(`${file}: ${object.kind} ${object.metadata?.name}`));
    return out;
  };

  test("the examples of Kube-OVN's user guide are taken as its own definitions take them", { skip: noReference }, async () => {
    assert.ok(examples().length > 50, `${examples().length} examples`);
    const byOurs = await refused();
    await cluster.kubectl(['apply', '--validate=false', '-f', theirCrds]);
    assert.deepEqual(byOurs, await refused());
    // The guide writes a mapping where a string `key:value` is wanted.
    assert.deepEqual(byOurs, ['vpc__vpc-internal-lb__1.yaml: SwitchLBRule cjh-slr-nginx', 'vpc__vpc__13.yaml: SwitchLBRule cjh-slr-nginx']);
  });
});
