import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { everyCommand } from '../../src/cli/arguments/every-command.ts';
import { program } from '../../src/cli/program.ts';
import { crdYaml } from '../../src/api/kinds/crds.ts';
import { GROUP } from '../../src/api/schema/kind.ts';
import type { KindResource } from '../../src/api/schema/resource.ts';
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../../src/runtime/heap.ts';
import { DEFINITIONS } from '../../src/kube/cache/definition-watch.ts';
import { AGENT_TABLES } from '../../src/kinds/generated/agent-tables.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { agentPolicyYaml } from '../../src/webhook/manifests/agent-policy.ts';
import { admissionPolicyYaml } from '../../src/webhook/manifests/account-policy.ts';
import { rbacYaml } from '../../src/webhook/manifests/account-role.ts';
import { WEBHOOK_PORT, webhookYaml } from '../../src/webhook/manifests/webhook-configuration.ts';
import { SYSTEM_JOURNAL } from '../../src/cli/arguments/journal-directory.ts';
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

test('deploy/agent-policy.yaml is up to date with what rules of the agent write; fix with: npm run --silent agent-policy > deploy/agent-policy.yaml', () => {
  assert.equal(read('deploy/agent-policy.yaml'), agentPolicyYaml());
});

test('deploy/rbac.yaml is up to date with src/webhook; fix with: npm run --silent rbac > deploy/rbac.yaml', () => {
  assert.equal(read('deploy/rbac.yaml'), rbacYaml());
});

interface Documented {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
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
    [...Object.values(RESOURCES).filter((one) => !('only' in one)), DEFINITIONS]
      .map(({ plural, group }) => `${plural}.${group}`)
      .toSorted(),
  );
});

test('of ConfigMaps the controller reads one alone, in its namespace', () => {
  const roles = documents('deploy/rbac.yaml').filter(({ rules = [] }) => rules.some(({ resources }) => resources.includes('configmaps')));
  assert.deepEqual(
    roles.map(({ kind, metadata }) => [kind, metadata.namespace]),
    [['Role', 'kube-system']],
  );
  assert.deepEqual(
    roles.flatMap(({ rules = [] }) => rules.filter(({ resources }) => resources.includes('configmaps'))),
    [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['ovn-external-gw-config'], verbs: ['list', 'watch'] }],
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
    ['ips', 'iptables-eips', 'ovn-eips', 'subnets', 'vips', 'vpcs'].map((plural) => `${plural}.kubeovn.io`),
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

test('the ClusterRole of the agent lets it observe every kind of which a record says that it does, and no more', () => {
  const granted = documents('deploy/agent.yaml').flatMap(({ rules = [] }) =>
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      ['get', 'list', 'watch'].every((verb) => verbs.includes(verb)) ? resources.map((one) => `${one}.${apiGroups[0]}`) : [],
    ),
  );
  assert.deepEqual(
    granted.toSorted(),
    Object.values(AGENT_TABLES)
      .map(({ resource: { plural, group } }) => `${plural}.${group}`)
      .toSorted(),
  );
});

test('the Deployment serves its probes and its webhook at the configured ports, and the scheduler knows of none', () => {
  const deployment = parseAllDocuments(read('deploy/controller.yaml'))
    .map((document) => document.toJS() as Record<string, unknown> & { kind: string })
    .find(({ kind }) => kind === 'Deployment') as unknown as { spec: { template: { spec: { containers: { args: string[] }[] } } } };
  const [container] = deployment.spec.template.spec.containers;
  const [, port] = /^--metrics-bind-address=127\.0\.0\.1:(\d+)$/m.exec(container?.args.join('\n') ?? '') ?? [];
  assert.ok(container?.args.includes(`--webhook-bind-address=:${WEBHOOK_PORT}`), 'the Service of deploy/webhook.yaml leads there');
  const parsed = JSON.stringify(container);
  for (const path of ['/healthz', '/readyz']) assert.ok(parsed.includes(`"host":"127.0.0.1","path":"${path}","port":${port}`), path);
  assert.doesNotMatch(parsed, /containerPort|hostPort/);
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

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly resources?: { readonly requests?: object };
  readonly livenessProbe?: object;
  readonly securityContext: { readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] } };
}

interface Workload {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly template?: { readonly spec: { readonly containers: readonly Container[]; readonly initContainers?: readonly Container[] } };
  };
}

const MANIFESTS = globSync('deploy/*.yaml', { cwd: new URL('../..', import.meta.url) });

function workloads(): readonly { readonly name: string; readonly all: readonly Container[]; readonly lasting: readonly Container[] }[] {
  return MANIFESTS.flatMap(documents).flatMap((one) => {
    const { metadata, spec } = one as unknown as Workload;
    const pod = spec?.template?.spec;
    return pod === undefined
      ? []
      : [{ name: metadata.name, all: [...(pod.initContainers ?? []), ...pod.containers], lasting: pod.containers }];
  });
}

test('no container is privileged, and each has the capabilities of this list and no others', () => {
  const capabilities = Object.fromEntries(
    workloads().flatMap(({ name, all }) =>
      all.map((container) => [`${name}/${container.name}`, container.securityContext.capabilities.add ?? []]),
    ),
  );
  assert.deepEqual(capabilities, {
    'kiln-agent/install-cni': ['DAC_OVERRIDE'],
    'kiln-agent/agent': ['NET_ADMIN', 'NET_RAW', 'NET_BROADCAST', 'SYS_ADMIN', 'SYS_PTRACE', 'DAC_OVERRIDE'],
    'kiln-ovs/prepare': [],
    'kiln-ovs/ovsdb-server': [],
    'kiln-ovs/ovs-vswitchd': ['NET_ADMIN', 'NET_RAW', 'NET_BROADCAST', 'IPC_LOCK'],
    'kiln-ovs/ovn-controller': [],
    'kiln-controller/prepare-journal': ['CHOWN'],
    'kiln-controller/controller': [],
    'kiln-ovn-central/ovn-central': [],
  });
  for (const { name, all } of workloads())
    for (const container of all) {
      const { capabilities: own, ...context } = container.securityContext as unknown as Record<string, unknown> &
        Container['securityContext'];
      assert.deepEqual(own.drop, ['ALL'], name);
      assert.equal(context['allowPrivilegeEscalation'], false, name);
      assert.equal(context['readOnlyRootFilesystem'], true, name);
      assert.ok(!('privileged' in context), name);
    }
});

test('every container that lasts requests what it needs, and is watched by its kubelet', () => {
  for (const { name, lasting } of workloads())
    for (const container of lasting) {
      assert.deepEqual(Object.keys(container.resources?.requests ?? {}), ['cpu', 'memory'], `${name}/${container.name}`);
      assert.ok(container.livenessProbe !== undefined, `${name}/${container.name} has a probe`);
    }
});

test('the arguments of every container of ours are those of a command of kiln', () => {
  const known = new Map(everyCommand(program).map(({ name, command }) => [name, command] as const));
  for (const { name, all } of workloads())
    for (const { command, args } of all) {
      if (command !== undefined) continue;
      const [verb = '', ...flags] = args ?? [];
      const options = known.get(verb)?.options ?? assert.fail(`${name}: there is no command ${verb}`);
      for (const flag of flags)
        assert.ok(
          options.some(({ long }) => long === flag.replace(/=.*/, '')),
          `${name}: kiln ${verb} has no ${flag}`,
        );
    }
});

test('every image of the manifests is a target of the Containerfile, and has the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  const images = new Set(workloads().flatMap(({ all }) => all.map(({ image }) => image)));
  assert.deepEqual([...images].toSorted(), [`kiln-agent:${version}`, `kiln-ovn:${version}`, `kiln:${version}`]);
  for (const target of ['agent', 'ovn', 'controller']) assert.match(read('Containerfile'), new RegExp(`^FROM \\S+ AS ${target}$`, 'm'));
});

test('the journal is on, outlives the pod, and its volume is given to the user of the controller before that starts', () => {
  const [deployment] = documents('deploy/controller.yaml').filter(({ kind }) => kind === 'Deployment') as unknown as {
    spec: {
      template: {
        spec: {
          securityContext: { runAsUser: number };
          initContainers: { args: string[]; volumeMounts: { name: string; mountPath: string }[] }[];
          containers: { env: { name: string; value?: string }[]; volumeMounts: { name: string; mountPath: string }[] }[];
          volumes: { name: string; hostPath?: { path: string; type: string } }[];
        };
      };
    };
  }[];
  const { initContainers, containers, volumes, securityContext } = deployment?.spec.template.spec ?? assert.fail('no Deployment');
  const directory = containers[0]?.env.find(({ name }) => name === 'KILN_JOURNAL')?.value;
  assert.equal(directory, SYSTEM_JOURNAL);
  const { name } = containers[0]?.volumeMounts.find(({ mountPath }) => mountPath === directory) ?? assert.fail('not mounted');
  assert.deepEqual(volumes.find((one) => one.name === name)?.hostPath, { path: directory, type: 'DirectoryOrCreate' });
  const prepares = everyCommand(program)
    .find((one) => one.name === 'prepare-journal')
    ?.command.opts();
  assert.deepEqual([prepares?.['directory'], prepares?.['user']], [directory, securityContext.runAsUser]);
  assert.deepEqual(initContainers, [{ ...initContainers[0], args: ['prepare-journal'], volumeMounts: [{ name, mountPath: directory }] }]);
});
