/** Workloads of busybox in a cluster whose containers run, and what tests ask of their pods. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import { leftovers } from '../../lab/cluster/leftovers.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { ProgramError } from '../../lab/programs/run-program.ts';
import { eventually } from '../../src/testing/until.ts';

const IMAGE = 'kiln.local/busybox:1';
/** Pods of a loaded machine take long; only a failing wait takes as long as this. */
const PATIENCE = '600s';
const SETTLE_MS = 180_000;

export interface RunningPod {
  readonly name: string;
  readonly node: string;
  /** One of each family. */
  readonly addresses: readonly string[];
}

/** A pod's template that serves its own name at port 8080. */
export function webTemplate(labels: Readonly<Record<string, string>>, more: object = {}): object {
  return {
    metadata: { labels },
    spec: {
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'web',
          image: IMAGE,
          command: ['sh', '-c', 'mkdir -p /tmp/www && hostname > /tmp/www/index.html && echo serving && exec httpd -f -p 8080 -h /tmp/www'],
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1, timeoutSeconds: 5 },
          livenessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 10 },
        },
      ],
      ...more,
    },
  };
}

/** Of busybox, in namespace `default`, with label `app`. */
export function deployment(name: string, replicas: number, more: object = {}): object {
  const labels = { app: name };
  return workload('Deployment', name, { replicas, selector: { matchLabels: labels }, template: webTemplate(labels, more) });
}

/** The same as a StatefulSet. */
export function statefulSet(name: string, replicas: number): object {
  const labels = { app: name };
  return workload('StatefulSet', name, { replicas, serviceName: name, selector: { matchLabels: labels }, template: webTemplate(labels) });
}

/** An object of apps/v1. */
export function workload(kind: 'Deployment' | 'StatefulSet' | 'DaemonSet', name: string, spec: object): object {
  return { apiVersion: 'apps/v1', kind, metadata: { name, namespace: 'default' }, spec };
}

export function service(name: string, app: string, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { selector: { app }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
  };
}

/** A Job whose pods run one command. */
export function job(name: string, completions: number, command: string): object {
  const container = { name: 'work', image: IMAGE, command: ['sh', '-c', command] };
  const template = { metadata: { labels: { app: name } }, spec: { restartPolicy: 'Never', containers: [container] } };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: { completions, parallelism: completions, template },
  };
}

/** Waits until all replicas are ready. @param what `deployment/web` */
export async function rolledOut(cluster: KubernetesCluster, what: string, namespace = 'default'): Promise<void> {
  await cluster.kubectl('rollout', 'status', what, `--namespace=${namespace}`, `--timeout=${PATIENCE}`);
}

/** Waits until no pod with label `app` exists. */
export async function gone(cluster: KubernetesCluster, app: string): Promise<void> {
  await cluster.kubectl('wait', '--for=delete', 'pod', '-l', `app=${app}`, `--timeout=${PATIENCE}`);
}

/** Running pods of namespace `default` with label `app`, by name. */
export async function podsOf(cluster: KubernetesCluster, app: string): Promise<readonly RunningPod[]> {
  const { items } = JSON.parse(await cluster.kubectl('get', 'pods', '-l', `app=${app}`, '-o', 'json')) as {
    readonly items: readonly {
      readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
      readonly spec: { readonly nodeName?: string };
      readonly status: { readonly phase: string; readonly podIPs?: readonly { readonly ip: string }[] };
    }[];
  };
  return items
    .filter(({ metadata, status }) => status.phase === 'Running' && metadata.deletionTimestamp === undefined)
    .map(({ metadata, spec, status }) => ({
      name: metadata.name,
      node: spec.nodeName ?? '',
      addresses: (status.podIPs ?? []).map(({ ip }) => ip),
    }));
}

/** The command that asks a pod of `webTemplate`, or its Service, for the pod's name. `wget` of Debian's static busybox crashes. */
export function ask(host: string, port = 8080): string {
  return `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 ${host} ${port} | tail -n 1`;
}

/** Runs a script of the shell in a pod, and returns what it prints. */
export async function inPod(cluster: KubernetesCluster, { name }: Pick<RunningPod, 'name'>, script: string): Promise<string> {
  return (await cluster.kubectl('exec', name, '--', 'sh', '-c', script)).trim();
}

/** Each of some pods asks others, by every address, for their names. @param others default: the same pods */
export async function assertAllAnswer(
  cluster: KubernetesCluster,
  pods: readonly RunningPod[],
  others: readonly RunningPod[] = pods,
): Promise<void> {
  for (const pod of pods) {
    const answers = await inPod(cluster, pod, others.flatMap(({ addresses }) => addresses.map((address) => ask(address))).join('; '));
    const expected = others.flatMap(({ name, addresses }) => addresses.map(() => name));
    assert.deepEqual(answers.split('\n'), expected, `from ${pod.name} on ${pod.node}`);
  }
}

/** A Deployment `web` of four pods, on both nodes, which reach each other. @returns its pods */
export async function runWeb(cluster: KubernetesCluster): Promise<readonly RunningPod[]> {
  await cluster.apply(deployment('web', 4));
  await rolledOut(cluster, 'deployment/web');
  const pods = await podsOf(cluster, 'web');
  assert.equal(new Set(pods.map(({ node }) => node)).size, 2, 'on both nodes');
  await assertAllAnswer(cluster, pods);
  return pods;
}

/** `kubectl exec`, `logs` and `port-forward` with a pod of `web`. */
export async function assertKubectlReaches(cluster: KubernetesCluster): Promise<void> {
  const [pod] = await podsOf(cluster, 'web');
  assert.ok(pod);
  assert.equal(await inPod(cluster, pod, 'hostname'), pod.name);
  assert.match(await cluster.kubectl('logs', pod.name), /^serving$/m);
  // The API server itself connects to each.
  for (const { name } of await podsOf(cluster, 'web'))
    assert.equal((await cluster.kubectl('get', '--raw', `/api/v1/namespaces/default/pods/${name}:8080/proxy/`)).trim(), name);
  const kubectl = findKubernetesProgram('kubectl') ?? 'kubectl';
  const forward = spawn(kubectl, [`--kubeconfig=${cluster.control.kubeconfig}`, 'port-forward', `pod/${pod.name}`, ':8080'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    forward.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const port = await eventually('kubectl forwards', () => /127\.0\.0\.1:(\d+)/.exec(printed)?.[1]);
    assert.equal((await (await fetch(`http://127.0.0.1:${port}/`)).text()).trim(), pod.name);
  } finally {
    forward.kill();
  }
}

/** A Service of `web`, which its pods reach by its name and by each of its addresses. @returns these */
export async function assertServices(cluster: KubernetesCluster, spec: object = {}): Promise<readonly string[]> {
  await cluster.apply(service('web', 'web', spec));
  await rolledOut(cluster, 'deployment/coredns', 'kube-system');
  const made = JSON.parse(await cluster.kubectl('get', 'service', 'web', '--output=json')) as {
    readonly spec: { readonly clusterIPs: readonly string[] };
  };
  const pods = await podsOf(cluster, 'web');
  const names = new Set(pods.map(({ name }) => name));
  for (const pod of pods)
    for (const target of ['web.default.svc.cluster.local', ...made.spec.clusterIPs])
      await eventually(`pod ${pod.name} on ${pod.node} reaches ${target}`, async () =>
        names.has(await inPod(cluster, pod, ask(target, 80))),
      );
  // As the API server reaches a webhook, or an aggregated API, in pods.
  for (const address of made.spec.clusterIPs)
    await eventually(`the control plane reaches ${address}`, async () =>
      names.has(
        (
          await cluster.underlay.namespace.run(
            'sh',
            '-c',
            `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 10 ${address} 80 | tail -n 1`,
          )
        ).trim(),
      ),
    );
  return made.spec.clusterIPs;
}

function onHostPort(template: object, hostPort: number): object {
  const { spec, ...rest } = template as { readonly spec: { readonly containers: readonly object[] } };
  const containers = spec.containers.map((one) => ({ ...one, ports: [{ containerPort: 8080, hostPort }] }));
  return { ...rest, spec: { ...spec, containers } };
}

/**
 * What a node translates itself: a NodePort whose policy is Local, and a hostPort, asked by each node of each node, and by a pod; and a Service
 * without endpoints, which is refused. The pods of `web` are on all nodes.
 */
export async function assertTranslatedByNodes(cluster: KubernetesCluster): Promise<void> {
  const local = { type: 'NodePort', externalTrafficPolicy: 'Local' };
  await cluster.apply(
    service('local', 'web', { ...local, ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30080 }] }),
    service('nobody', 'nobody'),
    workload('DaemonSet', 'host', {
      selector: { matchLabels: { app: 'host' } },
      template: onHostPort(webTemplate({ app: 'host' }), 18080),
    }),
  );
  await rolledOut(cluster, 'daemonset/host');
  const [web, host] = [await podsOf(cluster, 'web'), await podsOf(cluster, 'host')];
  for (const [port, pods] of [
    [30080, web],
    [18080, host],
  ] as const)
    for (const { name, packets } of cluster.nodes)
      for (const from of cluster.nodes) {
        const expected = pods.filter(({ node }) => node === name).map((pod) => pod.name);
        let answer = '';
        await eventually(`${from.name} asks ${name} at ${port}`, async () => {
          answer = (await from.packets.namespace.run('sh', '-c', ask(packets.address, port).replace('nc ', 'busybox nc '))).trim();
          return expected.includes(answer);
        });
      }
  const { spec } = JSON.parse(await cluster.kubectl('get', 'service', 'nobody', '--output=json')) as {
    readonly spec: { readonly clusterIP: string };
  };
  for (const pod of web) {
    const since = performance.now();
    const said = await inPod(cluster, pod, `nc -w 10 ${spec.clusterIP} 80 < /dev/null 2>&1 || :`);
    assert.match(said, /refused/i, `${pod.name}: ${said}`);
    assert.ok(performance.now() - since < 9_000);
  }
  await cluster.kubectl('delete', 'service/local', 'service/nobody', 'daemonset/host');
  await gone(cluster, 'host');
}

/** 40 pods of a Deployment `many`, with so many addresses each, come and go, and nothing of them is left. */
export async function assertScales(cluster: KubernetesCluster, rounds: number, families = 1): Promise<void> {
  await cluster.apply(deployment('many', 0));
  const before = await traces(cluster);
  for (let round = 0; round < rounds; round++) {
    await cluster.kubectl('scale', 'deployment/many', '--replicas=40');
    await rolledOut(cluster, 'deployment/many');
    await nothingLeft(cluster);
    const addresses = (await podsOf(cluster, 'many')).flatMap((pod) => pod.addresses);
    assert.equal(new Set(addresses).size, 40 * families, 'each has addresses of its own');
    await cluster.kubectl('scale', 'deployment/many', '--replicas=0');
    await gone(cluster, 'many');
    await nothingLeft(cluster);
    await eventually('routes, rules and devices are as before', async () => {
      assert.equal(await traces(cluster), before);
      return true;
    });
  }
}

/**
 * Waits until every port, device, namespace and logical port has its pod, every pod has them, and `kiln status` has no finding. Throws with what
 * differs.
 */
export async function nothingLeft(cluster: KubernetesCluster): Promise<void> {
  for (const end = performance.now() + SETTLE_MS; ; await sleep(500)) {
    const found = [...(await leftovers(cluster.nodes, cluster.control, cluster.ovn)), ...(await findings(cluster))];
    if (found.length === 0) return;
    if (performance.now() > end) throw new Error(found.join('\n'));
  }
}

/** What pods may leave behind on nodes beside what `nothingLeft` knows: devices, routes, rules, and tables of ours and of portmap. */
export async function traces(cluster: KubernetesCluster): Promise<string> {
  const parts: string[] = [];
  for (const { name, machine } of cluster.nodes) {
    const commands: readonly (readonly [string, ...string[]])[] = [
      ['ip', '-brief', 'link', 'show'],
      ['ip', 'rule', 'show'],
      ['ip', '-6', 'rule', 'show'],
      ['ip', 'route', 'show', 'table', 'all'],
      ['ip', '-6', 'route', 'show', 'table', 'all'],
      ['nft', '--stateless', 'list', 'table', 'inet', 'kiln'],
      ['sh', '-c', 'nft --stateless list ruleset | grep -E "CNI-|_h\\b" || :'],
      ['sh', '-c', 'ls /run/netns 2>/dev/null || :'],
      ['sh', '-c', 'ls /var/lib/cni/* 2>/dev/null || :'],
    ];
    for (const command of commands) {
      const lines = (await machine.run(...command))
        .split('\n')
        .map((line) => line.replaceAll(/ (?:UP|DOWN|UNKNOWN) .*| expires \d+sec/g, ''));
      parts.push(`${name}: ${command.join(' ')}`, ...lines.toSorted());
    }
  }
  return parts.join('\n');
}

/** The network namespace of a pod, on the machine of its node. */
export async function namespaceOf(cluster: KubernetesCluster, pod: RunningPod): Promise<string> {
  const { vswitch } = cluster.node(pod.node).packets;
  const path = await vswitch.vsctl('--bare', '--columns=external_ids', 'find', 'interface', `external_ids:pod_name=${pod.name}`);
  return /pod_netns=(\S+)/.exec(path)?.[1] ?? '';
}

/** What `kiln status` says if it is not content. */
async function findings(cluster: KubernetesCluster): Promise<readonly string[]> {
  try {
    await cluster.kiln('status');
    return [];
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    return [`${error.message}\n${error.stdout}`];
  }
}
