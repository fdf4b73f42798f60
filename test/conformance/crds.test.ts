/** The CustomResourceDefinitions on a real kube-apiserver: all of them apply, default, prune and print as declared. */

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { celFindings } from '../../src/api/cel/cel-rules.ts';
import { allKinds, crdYaml } from '../../src/api/kinds/crds.ts';
import { GROUP } from '../../src/api/schema/kind.ts';
import type { SchemaNode } from '../../src/api/schema/schema.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { apiServerMinor, missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import type { CelCase } from './cel-cases.ts';
import { changes, newGateways } from './cel-cases.ts';
import { until } from '../../src/testing/until.ts';

const missing = missingClusterPrograms() ?? (findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : undefined);
const minor = missing === undefined ? await apiServerMinor() : 0;
/** The server has CEL rules, field names in validation errors, and OpenAPI v3. */
const isCurrent = minor >= 27;
const reference = (path: string): string => fileURLToPath(new URL(`../../../shared/reference/${path}`, import.meta.url));
const theirCrds = reference('kube-ovn-crds.yaml');
const manifests = reference('manifests');
const noReference = existsSync(theirCrds) && existsSync(manifests) ? false : "Kube-OVN's definitions and examples are not on this host";

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

const byText = (a: string, b: string): number => (a < b ? -1 : 1);
const listOf = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
const objectOf = ({ kind, scope }: CelCase['kind'], name: string, spec: object): object => ({
  ...{ apiVersion: `${GROUP}/v1`, kind, spec },
  metadata: { name, ...(scope === 'Namespaced' && { namespace: 'default' }) },
});

function messagesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = ((value as SchemaNode)['x-kubernetes-validations'] ?? []).map(({ message }) => message);
  return [...own, ...Object.values(value).flatMap(messagesOf)];
}

/** The messages of all rules of our definitions. */
const MESSAGES = new Set(allKinds.flatMap(({ spec, status }) => [...messagesOf(spec.node), ...messagesOf(status?.node)]));

const BROKEN = new RegExp(
  `(spec[\\w.[\\]]*): Invalid value: .*?: (${[...MESSAGES].map((text) => text.replace(/[^\w ]/g, '\\$&')).join('|')})`,
  'g',
);

/** The violations in a validation error of kubectl: each field, with the message of the rule. */
function brokenIn(refusal: string): readonly string[] {
  const broken = [...refusal.matchAll(BROKEN)].map(([, field = '', message = '']) => `${field}: ${message}`);
  assert.equal(broken.length, refusal.split('Invalid value').length - 1, `a refusal that is not by a rule of ours: ${refusal}`);
  return broken;
}

describe('CRDs on a real kube-apiserver', { skip: missing ?? false }, () => {
  let cluster: RealCluster;
  /** One line per kind, as `kubectl api-resources` lists them. */
  const served = async (): Promise<readonly string[]> =>
    (await cluster.kubectl(['api-resources', `--api-group=${GROUP}`, '--no-headers'])).trim().split('\n');
  before(async () => {
    cluster = new RealCluster({ controllerManager: false });
    await cluster.start();
    await cluster.kubectl(['apply', '-f', '-'], crdYaml({ cel: minor >= 25 }));
    // kubectl fails while a definition has no conditions yet.
    const established = ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s'];
    await until('all definitions are established', () => succeeds(cluster.kubectl(established)));
    // A kind is served a moment after its definition is established, and accepts objects a moment after that.
    await until('all kinds are served', async () => (await served()).length === allKinds.length);
    const items = allKinds.map(({ kind }) => ({ apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'tried' }, spec: {} }));
    const tried = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await until('objects of all kinds are looked at', async () => {
      const output = await cluster
        .kubectl(['create', '--validate=false', '--dry-run=server', '-f', '-'], tried)
        .catch((error: unknown) => String(error));
      return !/NotFound|no matches for kind|panic/.test(output);
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

  test('no condition of a definition reports a fault', async () => {
    const path = '{range .items[*]}{.metadata.name}{range .status.conditions[*]} {.type}={.status}{end}{"\\n"}{end}';
    const lines = (await cluster.kubectl(['get', 'crd', '-o', `jsonpath=${path}`])).trim().split('\n');
    assert.equal(lines.length, allKinds.length);
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

  test('the server rejects an object that breaks its schema', async () => {
    const vlan = { apiVersion: 'kubeovn.io/v1', kind: 'Vlan', metadata: { name: 'v' }, spec: { id: 4096, provider: 'p' } };
    await assert.rejects(cluster.kubectl(['apply', '--validate=false', '-f', '-'], JSON.stringify(vlan)), /spec\.id.*4095/);
  });

  const currentTest = (name: string, body: () => Promise<void>): void => {
    if (isCurrent) test(name, body);
    else process.stdout.write(`not asked of Kubernetes 1.${minor}: ${name} (first in Kubernetes 1.27)\n`);
  };

  /** For each object: the fields and the rules that it violates, as the API server answers. */
  const serverVerdicts = async (cases: readonly CelCase[], verb: readonly string[]): Promise<readonly string[]> => {
    const answer = await cluster
      .kubectl([...verb, '--dry-run=server', '-f', '-'], listOf(cases.map(({ kind, name, spec }) => objectOf(kind, name, spec))))
      .catch((error: unknown) => String(error));
    const refusals = new Map<string, readonly string[]>();
    const parts = answer.split(/(\w+)(?:\.kubeovn\.io)? "([^"]+)" is invalid:/);
    for (let at = 1; at < parts.length; at += 3) refusals.set(`${parts[at] ?? ''}/${parts[at + 1] ?? ''}`, brokenIn(parts[at + 2] ?? ''));
    return cases.map(({ kind, name }) => [...new Set(refusals.get(`${kind.kind}/${name}`))].toSorted(byText).join(' | '));
  };
  const ourVerdicts = (cases: readonly CelCase[]): readonly string[] =>
    cases.map(({ kind, name, spec, before: old }) => {
      const findings = celFindings(kind, { kind: kind.kind, name }, spec, old).map(({ field, rule }) => `${field}: ${rule}`);
      return [...new Set(findings)].toSorted(byText).join(' | ');
    });

  currentTest('each rule in CEL has the verdict of our evaluator, one field beside another and the new value beside the old', async () => {
    const made = newGateways(150);
    const [server, ours] = [await serverVerdicts(made, ['create', '--validate=false']), ourVerdicts(made)];
    assert.deepEqual(server, ours);
    const changed = changes();
    const olds = changed.map(({ kind, name, before: old = {} }) => objectOf(kind, name, old));
    await cluster.kubectl(['create', '-f', '-'], listOf(olds));
    const changedVerdicts = await serverVerdicts(changed, ['replace', '--validate=false']);
    assert.deepEqual(changedVerdicts, ourVerdicts(changed));
    const verdicts = [...server, ...changedVerdicts];
    for (const message of MESSAGES) {
      const broken = verdicts.filter((verdict) => verdict.includes(message)).length;
      assert.ok(broken > 0 && broken < verdicts.length, `no object breaks, or all break: ${message}`);
    }
  });

  currentTest('a field that no schema has is rejected by its name, as kubectl asks for by default', async () => {
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

  test('columns show the fields they name', async () => {
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

  /** The examples that the server rejects with its current definitions. */
  const rejected = async (): Promise<string[]> => {
    const out: string[] = [];
    for (const { file, object } of examples())
      await cluster
        .kubectl(['apply', '--validate=false', '--dry-run=server', '-f', '-'], JSON.stringify(object))
        .catch(() => out.push(`${file}: ${object.kind} ${object.metadata?.name}`));
    return out;
  };

  test("the examples of Kube-OVN's user guide are accepted as with its own definitions", { skip: noReference }, async () => {
    assert.ok(examples().length > 50, `${examples().length} examples`);
    const byOurs = await rejected();
    await cluster.kubectl(['apply', '--validate=false', '-f', theirCrds]);
    assert.deepEqual(byOurs, await rejected());
    // The guide writes a mapping where the field is a string `key:value`.
    assert.deepEqual(byOurs, ['vpc__vpc-internal-lb__1.yaml: SwitchLBRule cjh-slr-nginx', 'vpc__vpc__13.yaml: SwitchLBRule cjh-slr-nginx']);
  });
});
