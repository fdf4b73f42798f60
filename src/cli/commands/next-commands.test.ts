/**
 * Next commands: every command that a message names is run as it is written, and does what the sentence says. The messages are those of
 * objects that are wrong in many ways: conditions, Events, `kiln status`, `kiln explain`, and the errors of commands. Of the commands of
 * one form (program, verb, kind, flags) one is run; one that writes, as a dry run.
 */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { findKubernetesProgram } from '../../../lab/programs/kubernetes.ts';
import { ProgramError, runProgram } from '../../../lab/programs/run-program.ts';
import { conditionOf, conditionsOf } from '../../world/conditions.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { until } from '../../testing/until.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

let scene: CommandScene;
const withoutScene = sceneOfThisFile((opened) => {
  scene = opened;
});
const skip = withoutScene === false && findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : withoutScene;

const KEY = 'ovn.kubernetes.io';

const PODS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  web: { [`${KEY}/ip_address`]: '10.94.0.200' },
  'no-subnet': { [`${KEY}/logical_switch`]: 'next-none' },
  'no-pool': { [`${KEY}/ip_pool`]: 'next-none' },
  'no-vip': { [`${KEY}/vip`]: 'next-none' },
  'no-aap': { [`${KEY}/aaps`]: 'next-none' },
  'no-network': { 'k8s.v1.cni.cncf.io/networks': 'next/none' },
  family: { [`${KEY}/ip_family`]: 'ipv5' },
  unread: { [`${KEY}/ip_adress`]: '10.94.0.9' },
  eip: { [`${KEY}/eip`]: '10.1.2.3', [`${KEY}/security_groups`]: 'next-none' },
  outside: { [`${KEY}/ip_address`]: '10.1.2.3' },
};

type Made = readonly [resource: ResourceName, name: string, spec: object];

const TENANT: readonly Made[] = [
  ['namespaces', 'next', {}],
  ['vpcs', 'next', {}],
  ['subnets', 'next-net', { vpc: 'next', cidrBlock: '10.94.0.0/24', namespaces: ['next'] }],
];

/** Wrong in many ways; all names begin with `next`. */
const WRONG: readonly Made[] = [
  ['subnets', 'next-lost', { vpc: 'next-nowhere', cidrBlock: '10.95.0.0/24' }],
  ['subnets', 'next-bad', { vpc: 'next', cidrBlock: '10.95.0.0/40' }],
  ['subnets', 'next-vlan', { vlan: 'next-none', cidrBlock: '10.96.128.0/24' }],
  [
    'subnets',
    'next-idle',
    {
      vpc: 'next',
      cidrBlock: '10.97.0.0/24',
      namespaces: ['next-later'],
      acls: [{ direction: 'to-lport', priority: 1001, action: 'drop', match: 'ip4.src == $next_none' }],
    },
  ],
  ['subnets', 'next-gate', { cidrBlock: '10.98.0.0/24', gatewayType: 'centralized', gatewayNode: 'next-node' }],
  [
    'vpcs',
    'next-routes',
    {
      namespaces: ['next-later'],
      staticRoutes: [{ cidr: '10.0.0.0/8', nextHopIP: '10.99.0.1', policy: 'policyDst' }],
      policyRoutes: [{ match: 'ip4.sorc == 1', priority: 10, action: 'drop' }],
      vpcPeerings: [{ remoteVpc: 'next-nowhere', localConnectIP: '169.254.0.1/30' }],
    },
  ],
  ['ippools', 'next-lost', { subnet: 'next-none', ips: ['10.94.0.20'] }],
  ['ippools', 'next-outside', { subnet: 'next-net', ips: ['10.1.2.3'] }],
  ['ippools', 'next-far', { subnet: 'next-net', ips: ['10.94.0.30..10.94.0.39'], namespaces: ['default'] }],
  ['vips', 'next-lost', { subnet: 'next-none' }],
  ['vips', 'next-outside', { subnet: 'next-net', v4ip: '10.1.2.3' }],
  ['ovn-eips', 'next-eip', { externalSubnet: 'next-net' }],
  ['ovn-eips', 'next-lrp', { externalSubnet: 'next-net', type: 'lrp' }],
  ['ovn-fips', 'next-fip', { ovnEip: 'next-eip', ipName: 'web.next' }],
  ['iptables-eips', 'next-gone', { externalSubnet: 'next-none', natGwDp: 'next-none' }],
  ['ips', 'next-outside', { subnet: 'next-net', podName: 'far', namespace: 'next', ipAddress: '10.1.2.3', v4IpAddress: '10.1.2.3' }],
  ['security-groups', 'next-group', {}],
  ['vlans', 'next-vlan', { id: 7, provider: 'next-none' }],
  ['networkpolicies', 'next-deny', { podSelector: {} }],
];

/** Commands that fail. */
const FAILING: readonly string[] = [
  'reserve late -n next --subnet=next-none',
  'reserve late -n next --subnet=next-net --ip=10.1.2.3',
  'reserve late -n next --subnet=next-net --ip=10.1',
  'release web.next --yes',
  'release next-none --yes',
  'delete vpc next',
  'delete vpc next --cascade',
  'delete vpc ovn-cluster --cascade --yes',
  'delete namespace next',
  'delete vpc next-none',
  'explain subnet next-none',
  'explain subnett next-net',
  'explain pod web -n next-none',
  'explain subnet',
  'status -l next=none',
  'diff --nope',
];

interface Named {
  readonly command: string;
  readonly where: string;
}

/** The end of a command, where its sentence continues. */
const END = / (?:and|or|to|as|shows?|lists|after|then|by) |[,;)"`\n]|: |(?<=\S)\. | \(|\.?$/;
/** After `then` stands what is to be done when something else was done before. */
const START = /(?<=^|[;:,(] |[;:,(]|with |or |see |\n)(?<!then )(?:kubectl|kiln|ovn-nbctl) (?=[-a-z])/g;

function commandsIn(text: string, where: string): readonly Named[] {
  return [...text.matchAll(START)].map(({ index, 0: start }) => {
    const rest = text.slice(index + start.length);
    return { command: `${start}${rest.slice(0, rest.search(END))}`.trim(), where: `${where}: ${text}` };
  });
}

async function fromConditions(): Promise<readonly Named[]> {
  const found: Named[] = [];
  for (const resource of new Set([...[...TENANT, ...WRONG].map(([one]) => one), 'pods' as const]))
    for (const object of await scene.client.listAll<KubeObject>(traitsOf(resource))) {
      const { name, namespace = '' } = object.metadata;
      if (!name.startsWith('next') && namespace !== 'next') continue;
      for (const { message = '' } of conditionsOf(resource, object as unknown as AnyObservedObject))
        found.push(...commandsIn(message, `${resource} ${name}`));
    }
  return found;
}

interface Event extends KubeObject {
  readonly message?: string;
}

async function fromEvents(): Promise<readonly Named[]> {
  const events = await scene.client.listAll<Event>({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });
  return events.flatMap(({ message = '' }) => commandsIn(message, 'Event'));
}

async function fromErrors(): Promise<readonly Named[]> {
  const found: Named[] = [];
  for (const args of FAILING) {
    const { exit, err } = await scene.kiln(...args.split(' '));
    assert.notEqual(exit, 0, args);
    for (const [, line = ''] of err.matchAll(/^ {2}(?:why|next): (.*)$/gm)) found.push(...commandsIn(line, `kiln ${args}`));
  }
  return found;
}

interface Told {
  readonly message: string;
  readonly next?: readonly string[] | string;
}

/** Also those of `kiln explain` for one finding of each kind. */
async function fromStatus(): Promise<readonly Named[]> {
  const { findings, notes } = JSON.parse((await scene.kiln('status', '-o', 'json')).out) as Record<'findings' | 'notes', readonly Told[]>;
  const listed = [...findings, ...notes].flatMap(({ message, next = [] }) => [
    ...[next].flat().map((command) => ({ command, where: `kiln status: ${message}` })),
    ...commandsIn(message, 'kiln status'),
  ]);
  const found = [...listed];
  for (const command of new Map(
    listed.filter((one) => one.command.startsWith('kiln explain ')).map((one) => [formOf(one.command), one.command]),
  ).values()) {
    const { next } = JSON.parse((await scene.kiln(...command.split(' ').slice(1), '-o', 'json')).out) as {
      readonly next: readonly string[];
    };
    assert.ok(!next.includes(command), `${command} names itself as the next command`);
    found.push(...next.map((one) => ({ command: one, where: command })));
  }
  return found;
}

/** The words of a command without those that differ from message to message. */
function formOf(command: string): string {
  const [program = '', verb = '', ...rest] = command.split(' ');
  const flags = rest.filter((word) => word.startsWith('-')).map((word) => word.replace(/=.*/, ''));
  const [kind = '', ...names] = rest.filter((word, at) => !word.startsWith('-') && !/^-[nlo]$/.test(rest[at - 1] ?? ''));
  return [program, verb, program === 'ovn-nbctl' ? '' : kind, names.length, ...flags].join(' ');
}

/** With a flag that keeps a verb that writes from changing anything. */
function harmless(command: string): string {
  if (command.includes('--dry-run') || command.includes('--help')) return command;
  if (/^kubectl (?:delete|scale|annotate|label|apply) /.test(command)) return `${command} --dry-run=server`;
  return /^kiln (?:delete|release|reserve) /.test(command) ? `${command} --dry-run=client` : command;
}

interface Ran {
  readonly exit: number | null;
  readonly text: string;
}

async function run(command: string): Promise<Ran> {
  if (command.startsWith('kiln ')) {
    const { exit, out, err } = await scene.kiln(...command.split(' ').slice(1));
    return { exit, text: `${err}${out}` };
  }
  const env = {
    ...process.env,
    PATH: `${dirname(findKubernetesProgram('kubectl') ?? '')}:${process.env['PATH']}`,
    KUBECONFIG: scene.kubeconfig,
    OVN_NB_DB: scene.ovnNb,
    // It shows what the user would edit, and leaves it unchanged.
    KUBE_EDITOR: 'cat',
  };
  try {
    return { exit: 0, text: await runProgram(['sh', '-c', command], { env }) };
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return { exit: error.exitCode ?? null, text: `${error.stdout}${error.stderr}` };
  }
}

/** What is wrong with a command that was run; undefined if it did what its sentence says. */
function problemOf(command: string, { exit, text }: Ran): string | undefined {
  const answers = /^kiln (?:explain|status|diff)\b/.test(command) ? [0, 1] : [0];
  if (!answers.includes(exit ?? -1) || text.startsWith('error:')) return `exit ${exit}: ${text}`;
  // A command that names an object shows that object.
  const name = /^(?:kubectl|kiln) (?:describe|explain|edit|delete|get) [\w.-]+ (?:-n \S+ )?([\w.][\w.-]*)/.exec(command)?.[1];
  return name === undefined || text.includes(name) ? undefined : `shows nothing of ${name}: ${text}`;
}

async function make(resource: ResourceName, name: string, spec: object, annotations?: Readonly<Record<string, string>>): Promise<void> {
  const { namespaced } = traitsOf(resource);
  await scene.make(resource, { metadata: { name, ...(namespaced && { namespace: 'next' }), ...(annotations && { annotations }) }, spec });
}

async function untilReported(resource: ResourceName, name: string, type: string, status: string): Promise<void> {
  const { namespaced } = traitsOf(resource);
  await until(`${resource} ${name} has ${type}=${status}`, async () => {
    const object = await scene.client.get<KubeObject>(traitsOf(resource), { name, ...(namespaced && { namespace: 'next' }) });
    return conditionOf(resource, object as unknown as AnyObservedObject, type)?.status === status;
  });
}

test(
  'every next command of conditions, Events, kiln status, kiln explain and failed commands runs, and shows its object',
  { skip },
  async () => {
    for (const [resource, name, spec] of TENANT) await make(resource, name, spec);
    await untilReported('subnets', 'next-net', 'Ready', 'True');
    for (const [resource, name, spec] of WRONG) await make(resource, name, spec);
    for (const [name, annotations] of Object.entries(PODS))
      await make('pods', name, { containers: [{ name: 'main', image: 'busybox' }] }, annotations);
    await untilReported('pods', 'outside', 'kiln.io/NetworkBound', 'False');
    await until('the pod has its address', async () => (await scene.client.find(traitsOf('ips'), { name: 'web.next' })) !== undefined);
    await scene.client.delete(traitsOf('vpcs'), { name: 'next' });
    await untilReported('vpcs', 'next', 'DeletionBlocked', 'True');
    await scene.controller.untilQuiet();
    const found = [...(await fromConditions()), ...(await fromEvents()), ...(await fromErrors()), ...(await fromStatus())];
    const forms = new Map(found.map((named) => [formOf(named.command), named]));
    const problems: string[] = [];
    for (const { command, where } of forms.values()) {
      const problem = problemOf(command, await run(harmless(command)));
      if (problem !== undefined) problems.push(`${command}\n  ${where}\n  ${problem}`);
    }
    assert.deepEqual(problems, []);
    for (const form of [
      'kubectl edit subnet 1',
      'kubectl get vips 0',
      'kiln explain pod 1 -n',
      'kubectl get vlans 0',
      'kiln delete vpc 1 --cascade --dry-run',
    ])
      assert.ok(forms.has(form), `${form} is not among ${[...forms.keys()].join(', ')}`);
    assert.ok(forms.size > 30, [...forms.keys()].join(', '));
  },
);
