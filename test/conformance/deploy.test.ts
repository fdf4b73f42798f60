import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { crdYaml } from '../../src/api/kinds/crds.ts';
import { GROUP } from '../../src/api/schema/kind.ts';
import type { KindResource } from '../../src/api/schema/resource.ts';
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../../src/runtime/heap.ts';
import { DEFINITIONS } from '../../src/kube/cache/definition-watch.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { admissionPolicyYaml } from '../../src/webhook/manifests/account-policy.ts';
import { rbacYaml } from '../../src/webhook/manifests/account-role.ts';
import { WEBHOOK_PORT, webhookYaml } from '../../src/webhook/manifests/webhook-configuration.ts';
import { RESOURCES } from '../../src/world/resources.ts';

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

test('deploy/crds.yaml is up to date with src/api; fix with: npm run --silent crds > deploy/crds.yaml', () => {
  assert.equal(read('deploy/crds.yaml'), crdYaml());
});

test('deploy/webhook.yaml is up to date with src/webhook; fix with: npm run --silent webhook > deploy/webhook.yaml', () => {
  assert.equal(read('deploy/webhook.yaml'), webhookYaml(UNIMPLEMENTED_KINDS.map(({ resource }) => resource)));
});

test('deploy/admission-policy.yaml is up to date with src/webhook; fix with: npm run --silent admission-policy > deploy/admission-policy.yaml', () => {
  assert.equal(read('deploy/admission-policy.yaml'), admissionPolicyYaml());
});

test('deploy/rbac.yaml is up to date with src/webhook; fix with: npm run --silent rbac > deploy/rbac.yaml', () => {
  assert.equal(read('deploy/rbac.yaml'), rbacYaml());
});

interface Documented {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly rules?: readonly { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  readonly spec?: { readonly matchConstraints?: { readonly resourceRules: readonly { apiGroups: string[]; resources: string[] }[] } };
}

function documents(path: string): readonly Documented[] {
  return parseAllDocuments(read(path)).map((document) => document.toJS() as Documented);
}

test('every right to write that a Role grants the controller is limited by a policy of its own', () => {
  const limited = documents('deploy/admission-policy.yaml').flatMap(({ metadata, spec }) =>
    metadata.name === 'kiln-controller-rest'
      ? []
      : (spec?.matchConstraints?.resourceRules ?? []).flatMap(({ apiGroups, resources }) =>
          resources.map((one) => `${one}.${apiGroups[0]}`),
        ),
  );
  const granted = ['deploy/rbac.yaml', 'deploy/webhook.yaml']
    .flatMap(documents)
    .flatMap(({ rules = [] }) =>
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        verbs.every((verb) => ['get', 'list', 'watch'].includes(verb)) ? [] : resources.map((one) => `${one}.${apiGroups[0]}`),
      ),
    );
  assert.ok(granted.length > 20);
  assert.deepEqual(
    granted.filter((one) => !limited.includes(one)),
    [],
  );
});

test("no Role lets the controller create a Secret, and the manifest's Secret has no contents that a second apply would restore", () => {
  const all = ['deploy/rbac.yaml', 'deploy/webhook.yaml'].flatMap(documents);
  const rules = all.flatMap((one) => one.rules ?? []).filter(({ resources }) => resources.includes('secrets'));
  assert.deepEqual(rules, [
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['kiln-webhook-tls'], verbs: ['get', 'list', 'watch', 'update'] },
  ]);
  assert.deepEqual(
    all.filter(({ kind }) => kind === 'Secret'),
    [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kiln-webhook-tls', namespace: 'kube-system' } }],
  );
});

test('the ClusterRole lets the controller watch every resource it observes, and no more', () => {
  const role = parseAllDocuments(read('deploy/rbac.yaml'))
    .map((document) => document.toJS() as { kind: string; rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[] })
    .find(({ kind }) => kind === 'ClusterRole');
  const watched = new Set<string>();
  for (const { apiGroups, resources, verbs } of role?.rules ?? []) {
    assert.ok(!verbs.includes('*') && !resources.includes('*') && !apiGroups.includes('*'), 'no wildcards');
    if (verbs.includes('watch')) for (const group of apiGroups) for (const resource of resources) watched.add(`${resource}.${group}`);
  }
  assert.deepEqual(
    [...watched].toSorted(),
    [...Object.values(RESOURCES), DEFINITIONS].map(({ plural, group }) => `${plural}.${group}`).toSorted(),
  );
});

/** Verbs by `<plural>[/<subresource>].<group>`, of all rules of the ClusterRole. */
function verbsOfRole(): ReadonlyMap<string, readonly string[]> {
  const role = parseAllDocuments(read('deploy/rbac.yaml'))
    .map((document) => document.toJS() as { kind: string; rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[] })
    .find(({ kind }) => kind === 'ClusterRole');
  const verbs = new Map<string, readonly string[]>();
  for (const rule of role?.rules ?? [])
    for (const resource of rule.resources.flatMap((one) => rule.apiGroups.map((group) => `${one}.${group}`)))
      verbs.set(resource, [...(verbs.get(resource) ?? []), ...rule.verbs]);
  return verbs;
}

test('the ClusterRole lets the controller create and delete the kinds that its rules create and delete, write the status of implemented kinds, and no more', () => {
  const verbs = verbsOfRole();
  const having = (verb: string): readonly string[] => [...verbs].filter(([, all]) => all.includes(verb)).map(([resource]) => resource);
  assert.deepEqual(having('create').toSorted(), [
    ...['events.', 'ips.kubeovn.io', 'ovn-eips.kubeovn.io', 'pods/eviction.', 'subnets.kubeovn.io', 'vpcs.kubeovn.io'],
  ]);
  assert.deepEqual(
    having('delete').toSorted(),
    ['ips', 'iptables-eips', 'ovn-eips', 'vips'].map((plural) => `${plural}.kubeovn.io`),
  );
  assert.deepEqual(having('update'), []);
  for (const { plural, group, conditions, statusSubresource, unimplemented } of Object.values<KindResource>(RESOURCES)) {
    const wholeStatus = group === GROUP && unimplemented === undefined;
    assert.equal(verbs.has(`${plural}/status.${group}`), (conditions === 'status' || wholeStatus) && statusSubresource, `${plural}/status`);
  }
});

test('the ClusterRole lets the controller get the kinds it writes, for a write whose reply was lost, and no more', () => {
  for (const [resource, all] of verbsOfRole())
    if (all.includes('watch')) assert.equal(all.includes('get'), all.includes('patch'), resource);
});

test('the ClusterRole lets the controller write the status of kinds that are not implemented and have conditions, and no more', () => {
  const role = parseAllDocuments(read('deploy/rbac.yaml'))
    .map((document) => document.toJS() as { kind: string; rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[] })
    .find(({ kind }) => kind === 'ClusterRole');
  const patched = new Set(
    (role?.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
      verbs.includes('patch') ? apiGroups.flatMap((group) => resources.map((resource) => `${resource}.${group}`)) : [],
    ),
  );
  for (const { resource } of UNIMPLEMENTED_KINDS) {
    const { plural, group, conditions, statusSubresource } = RESOURCES[resource];
    // These patches write conditions in an annotation, the EIP of a NAT rule, and remove the finalizer of an earlier controller.
    assert.equal(patched.has(`${plural}.${group}`), conditions !== 'none', plural);
    assert.equal(patched.has(`${plural}/status.${group}`), conditions === 'status' && statusSubresource, `${plural}/status`);
  }
});

test('the Deployment serves its probes and its webhook at the configured ports', () => {
  const deployment = parseAllDocuments(read('deploy/controller.yaml'))
    .map((document) => document.toJS() as Record<string, unknown> & { kind: string })
    .find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: { template: { spec: { containers: { args: string[]; ports: { name: string; containerPort: number }[] }[] } } };
  };
  const [container] = deployment.spec.template.spec.containers;
  const port = container?.ports.find(({ name }) => name === 'metrics')?.containerPort;
  assert.ok(container?.args.includes(`--metrics-bind-address=127.0.0.1:${port}`));
  const webhook = container?.ports.find(({ name }) => name === 'webhook')?.containerPort;
  assert.equal(webhook, WEBHOOK_PORT, 'the Service of deploy/webhook.yaml leads there');
  assert.ok(container?.args.includes(`--webhook-bind-address=:${webhook}`));
  const parsed = JSON.stringify(container);
  for (const path of ['/healthz', '/readyz'])
    assert.match(parsed, new RegExp(`"host":"127\\.0\\.0\\.1","path":"${path}","port":"metrics"`));
});

test('the Deployment is restricted: keys readable by its group alone, no capability, limited processor and memory', () => {
  const deployment = parseAllDocuments(read('deploy/controller.yaml'))
    .map((document) => document.toJS() as Record<string, unknown> & { kind: string })
    .find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: {
      template: {
        spec: {
          securityContext: object;
          containers: { securityContext: object; resources: { limits: object } }[];
          volumes: { secret?: { defaultMode?: number } }[];
        };
      };
    };
  };
  const { securityContext, containers, volumes } = deployment.spec.template.spec;
  assert.deepEqual(securityContext, {
    runAsNonRoot: true,
    runAsUser: 65_532,
    runAsGroup: 65_532,
    fsGroup: 65_532,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  for (const { securityContext: own, resources } of containers) {
    assert.deepEqual(own, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
    assert.deepEqual(Object.keys(resources.limits), ['cpu', 'memory']);
  }
  for (const { secret } of volumes) if (secret !== undefined) assert.equal(secret.defaultMode, 0o440);
});

test('the image and the command run Node with the flags that keep memory small', () => {
  const environment = Object.entries(NODE_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  assert.ok(read('Containerfile').includes(`\nENV ${environment.join(' ')}\n`));
  assert.ok(read('Containerfile').includes(`ENTRYPOINT ["node", ${NODE_FLAGS.map((flag) => `"${flag}", `).join('')}"dist/kiln.mjs"]`));
  assert.ok(read('bin/kiln').includes(`exec "$node" ${NODE_FLAGS.join(' ')} "$here/`));
});
