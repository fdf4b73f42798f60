/** Typical work with workloads, by kubectl against the embedded API server. The pods have the host's network, so they run at once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { until } from '../../src/testing/until.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { PODS } from '../../src/kube/resource.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { LabApiServer } from '../apiserver/server.ts';
import { forbidden } from '../apiserver/status.ts';
import { StandInKubelet } from '../kubelet/stand-in-kubelet.ts';
import { findKubernetesProgram } from '../programs/kubernetes.ts';
import { StandInControllers } from './stand-in-controllers.ts';

const program = findKubernetesProgram('kubectl');
const WAIT = '--timeout=120s';

/** Listed within this process: a kubectl for each poll would take too long. */
const LISTED = {
  pods: PODS,
  replicasets: { group: 'apps', version: 'v1', plural: 'replicasets', kind: 'ReplicaSet', namespaced: true },
} as const;

interface Listed extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly uid: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly nodeName?: string; readonly replicas?: number };
  readonly status?: { readonly phase?: string };
}

describe('workloads on the embedded API server', { skip: program === undefined ? 'kubectl was not found' : false }, () => {
  let directory: string;
  let api: LabApiServer;
  let client: KubeClient;
  let kubelet: StandInKubelet;
  let controllers: StandInControllers;

  const kubectl = (args: readonly string[], input = ''): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = execFile(program ?? '', ['--kubeconfig', join(directory, 'kubeconfig'), ...args], (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(stderr, { cause: error })),
      );
      child.stdin?.end(input);
    });
  const listed = (kind: keyof typeof LISTED, app: string): Promise<readonly Listed[]> =>
    client.listAll<Listed>(LISTED[kind], { namespace: 'default', labelSelector: `app=${app}` });
  const apply = (kind: string, name: string, spec: object, verb = 'apply'): Promise<string> => {
    const labels = { app: name };
    const template = {
      metadata: { labels },
      spec: { hostNetwork: true, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'one' }] },
    };
    const object = {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name, labels },
      spec: { selector: { matchLabels: labels }, template, ...spec },
    };
    return kubectl([verb, '-f', '-'], JSON.stringify(object));
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kiln-workloads-'));
    api = new LabApiServer();
    await api.start();
    const path = join(directory, 'kubeconfig');
    await api.writeKubeconfig(path);
    client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path })));
    kubelet = new StandInKubelet({ client, nodes: 3 });
    controllers = new StandInControllers({ client });
    await Promise.all([kubelet.start(), controllers.start()]);
  });
  after(async () => {
    await controllers.stop();
    await kubelet.stop();
    await client.close();
    await api.stop();
    await rm(directory, { recursive: true });
  });

  test('a Deployment is rolled out, scaled, changed, rolled back and deleted with all that it made', async () => {
    await apply('Deployment', 'web', { replicas: 3 });
    await kubectl(['rollout', 'status', 'deployment/web', WAIT]);
    await kubectl(['wait', '--for=condition=Available', 'deployment/web', WAIT]);
    const first = await listed('pods', 'web');
    assert.equal(first.length, 3);
    await kubectl(['scale', 'deployment/web', '--replicas=5']);
    await kubectl(['rollout', 'status', 'deployment/web', WAIT]);
    assert.equal((await listed('pods', 'web')).length, 5);
    await kubectl(['set', 'image', 'deployment/web', 'main=two']);
    await kubectl(['rollout', 'status', 'deployment/web', WAIT]);
    const second = await listed('pods', 'web');
    assert.equal(second.length, 5);
    assert.ok(second.every(({ metadata }) => !first.some((old) => old.metadata.uid === metadata.uid)));
    assert.deepEqual(new Set((await listed('replicasets', 'web')).map(({ spec }) => spec.replicas)), new Set([0, 5]));
    assert.match(await kubectl(['rollout', 'history', 'deployment/web']), /^1 .*\n2 /m);
    await kubectl(['rollout', 'undo', 'deployment/web']);
    await kubectl(['rollout', 'status', 'deployment/web', WAIT]);
    const third = await listed('pods', 'web');
    assert.deepEqual(
      new Set(third.map(({ metadata }) => metadata.labels?.['pod-template-hash'])),
      new Set([first[0]?.metadata.labels?.['pod-template-hash']]),
    );
    assert.match(await kubectl(['get', 'deployment', 'web']), /web +5\/5 +5 +5 /);
    await kubectl(['delete', 'deployment', 'web', '--cascade=foreground', WAIT]);
    assert.deepEqual([await listed('pods', 'web'), await listed('replicasets', 'web')], [[], []]);
  });

  test('Events of a Deployment name the ReplicaSet and its new scale', async () => {
    await apply('Deployment', 'told', { replicas: 2 });
    await kubectl(['rollout', 'status', 'deployment/told', WAIT]);
    await kubectl(['scale', 'deployment/told', '--replicas=3']);
    await kubectl(['rollout', 'status', 'deployment/told', WAIT]);
    await kubectl(['scale', 'deployment/told', '--replicas=1']);
    await until('all three Events are there', async () => {
      const described = await kubectl(['describe', 'deployment', 'told']);
      const scalings = [
        ...described.matchAll(/Normal +ScalingReplicaSet +\S+ +deployment-controller +Scaled (\w+) replica set told-\w+ to (\d)/g),
      ];
      return (
        scalings
          .map(([, way, to]) => `${way} ${to}`)
          .toSorted()
          .join() === 'down 1,up 2,up 3'
      );
    });
    await kubectl(['delete', 'deployment', 'told', '--cascade=foreground', WAIT]);
  });

  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet'])
    test(`a ${kind} whose pods are rejected reports why, once, and creates them when they are accepted`, async () => {
      const name = `refused-${kind.toLowerCase()}`;
      const labels = { app: name };
      const spec = { hostNetwork: true, containers: [{ name: 'main', image: 'one' }] };
      const why = 'an admission plugin wants it so';
      let isRefused = true;
      api.operations.addGuard(({ verb, definition, name: pod, object }) => {
        if (verb === 'create' && definition.table === 'pods' && isRefused && object?.metadata.labels?.['app'] === name)
          throw forbidden(definition, pod, why);
      });
      await apply(kind, name, { ...(kind === 'DaemonSet' ? {} : { replicas: 2 }), template: { metadata: { labels }, spec } });
      const events = async (reason: string): Promise<readonly { readonly message: string }[]> =>
        (
          JSON.parse(await kubectl(['get', 'events', '--field-selector', `reason=${reason}`, '-o', 'json'])) as {
            readonly items: readonly { readonly message: string; readonly involvedObject: { readonly name: string } }[];
          }
        ).items.filter(({ involvedObject }) => involvedObject.name.startsWith(name));
      await until('an Event reports it', async () => (await events('FailedCreate')).length > 0);
      const [failed] = await events('FailedCreate');
      const shown =
        kind === 'StatefulSet'
          ? new RegExp(`^create Pod ${name}-0 in StatefulSet ${name} failed error: pods "${name}-0" is forbidden: ${why}$`)
          : new RegExp(`^Error creating: pods "${name}-(?:\\w+-)?" is forbidden: ${why}$`);
      assert.match(failed?.message ?? '', shown);
      if (kind === 'Deployment')
        await until('the Deployment says so', async () =>
          /ReplicaFailure +True +FailedCreate/.test(await kubectl(['describe', 'deploy', name])),
        );
      isRefused = false;
      await kubectl(['rollout', 'status', kind, name, WAIT]);
      assert.equal((await events('FailedCreate')).length, 1, 'the same is not reported again');
      await until('Events report what was created', async () => (await events('SuccessfulCreate')).length >= 2);
      if (kind === 'Deployment')
        await until(
          'the failure is over',
          async () => !/ReplicaFailure/.test(await kubectl(['get', 'deploy,rs', '-l', `app=${name}`, '-o', 'yaml'])),
        );
      await kubectl(['delete', kind, name, '--cascade=foreground', WAIT]);
    });

  for (const kind of ['StatefulSet', 'DaemonSet'] as const)
    test(`the history of a ${kind}, and back to an earlier revision`, async () => {
      const type = `${kind.toLowerCase()}/kept`;
      const images = async (): Promise<unknown> =>
        new Set((await kubectl(['get', 'pods', '-l', 'app=kept', '-o', 'jsonpath={.items[*].spec.containers[0].image}'])).split(' '));
      await apply(kind, 'kept', kind === 'StatefulSet' ? { replicas: 2, serviceName: 'kept' } : {});
      await kubectl(['rollout', 'status', type, WAIT]);
      await kubectl(['set', 'image', type, 'main=two']);
      await kubectl(['rollout', 'status', type, WAIT]);
      assert.deepEqual(await images(), new Set(['two']));
      assert.match(await kubectl(['rollout', 'history', type]), /^1 .*\n2 /m);
      assert.match(await kubectl(['rollout', 'history', type, '--revision=1']), /Image:\s+one/);
      assert.match(await kubectl(['rollout', 'undo', type]), /rolled back/);
      await kubectl(['rollout', 'status', type, WAIT]);
      assert.deepEqual(await images(), new Set(['one']));
      assert.match(await kubectl(['rollout', 'history', type]), /^2 .*\n3 /m, 'the first one is the third now');
      const table = await kubectl(['get', 'controllerrevisions', '-l', 'app=kept']);
      assert.match(table, /^NAME +CONTROLLER +REVISION +AGE\n/);
      assert.equal(table.match(new RegExp(`${kind.toLowerCase()}.apps/kept`, 'g'))?.length, 2, table);
      await kubectl(['delete', type, '--cascade=foreground', WAIT]);
      await until('its history went with it', async () => (await kubectl(['get', 'controllerrevisions', '-o', 'name'])) === '');
    });

  test('a partition keeps the pods below it on their template, also when they are recreated, until it is removed', async () => {
    const image = (pod: string): Promise<string> => kubectl(['get', 'pod', pod, '-o', 'jsonpath={.spec.containers[0].image}']);
    const partition = (at: number): Promise<string> =>
      kubectl(['patch', 'statefulset', 'part', '-p', `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":${at}}}}}`]);
    await apply('StatefulSet', 'part', { replicas: 3, serviceName: 'part' });
    await kubectl(['rollout', 'status', 'statefulset/part', WAIT]);
    await partition(2);
    await kubectl(['set', 'image', 'statefulset/part', 'main=two']);
    assert.match(
      await kubectl(['rollout', 'status', 'statefulset/part', WAIT]),
      /partitioned roll out complete: 1 new pods have been updated/,
    );
    const before = await kubectl(['get', 'pod', 'part-0', '-o', 'jsonpath={.metadata.uid}']);
    await kubectl(['delete', 'pod', 'part-0', WAIT]);
    await until('it was made again', async () => {
      const uid = await kubectl(['get', 'pod', 'part-0', '--ignore-not-found', '-o', 'jsonpath={.metadata.uid}']);
      return uid !== '' && uid !== before;
    });
    assert.deepEqual([await image('part-0'), await image('part-1'), await image('part-2')], ['one', 'one', 'two']);
    await kubectl(['wait', '--for=condition=Ready', 'pod/part-0', WAIT]);
    await partition(0);
    await until('all have the new template', async () => {
      const images = await kubectl(['get', 'pods', '-l', 'app=part', '-o', 'jsonpath={.items[*].spec.containers[0].image}']);
      return images === 'two two two';
    });
    await kubectl(['delete', 'statefulset', 'part', '--cascade=foreground', WAIT]);
  });

  test('a Deployment that was created without an annotation is rolled back, and its history has the change cause', async () => {
    await apply('Deployment', 'bare', { replicas: 1 }, 'create');
    await kubectl(['rollout', 'status', 'deployment/bare', WAIT]);
    await kubectl(['set', 'image', 'deployment/bare', 'main=two']);
    await kubectl(['annotate', 'deployment', 'bare', 'kubernetes.io/change-cause=a better image']);
    await kubectl(['rollout', 'status', 'deployment/bare', WAIT]);
    await kubectl(['wait', '--for=jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}=2', 'deployment/bare', WAIT]);
    assert.match(await kubectl(['rollout', 'history', 'deployment/bare']), /^2 +a better image$/m);
    await kubectl(['rollout', 'undo', 'deployment/bare']);
    await kubectl(['rollout', 'status', 'deployment/bare', WAIT]);
    assert.equal(await kubectl(['get', 'deployment', 'bare', '-o', 'jsonpath={.spec.template.spec.containers[0].image}']), 'one');
    await kubectl(['wait', '--for=jsonpath={.metadata.annotations.deployment\\.kubernetes\\.io/revision}=3', 'deployment/bare', WAIT]);
    await kubectl(['delete', 'deployment', 'bare', '--cascade=foreground', WAIT]);
  });

  test('a paused Deployment is scaled but not rolled out, until it is resumed', async () => {
    await apply('Deployment', 'still', { replicas: 2 });
    await kubectl(['rollout', 'status', 'deployment/still', WAIT]);
    await kubectl(['rollout', 'pause', 'deployment/still']);
    await kubectl(['set', 'image', 'deployment/still', 'main=two']);
    await kubectl(['scale', 'deployment/still', '--replicas=3']);
    await kubectl(['wait', '--for=jsonpath={.status.readyReplicas}=3', 'deployment/still', WAIT]);
    await kubectl([
      'wait',
      '--for=jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=DeploymentPaused',
      'deployment/still',
      WAIT,
    ]);
    assert.equal((await listed('replicasets', 'still')).length, 1);
    await kubectl(['rollout', 'resume', 'deployment/still']);
    await kubectl(['rollout', 'status', 'deployment/still', WAIT]);
    assert.equal((await listed('replicasets', 'still')).length, 2);
    assert.equal((await listed('pods', 'still')).length, 3);
    await kubectl(['delete', 'deployment', 'still', '--cascade=foreground', WAIT]);
  });

  for (const [kind, replicas] of [
    ['Deployment', { replicas: 2 }],
    ['StatefulSet', { replicas: 2, serviceName: 'kept' }],
    ['DaemonSet', {}],
  ] as const)
    test(`what a ${kind} orphaned is adopted by the next one whose selector matches`, async () => {
      await apply(kind, 'kept', replicas);
      await kubectl(['rollout', 'status', `${kind}/kept`, WAIT]);
      const before = (await listed('pods', 'kept')).map(({ metadata }) => metadata.uid);
      await kubectl(['delete', kind, 'kept', '--cascade=orphan', WAIT]);
      await apply(kind, 'kept', replicas);
      await kubectl(['rollout', 'status', `${kind}/kept`, WAIT]);
      assert.deepEqual((await listed('pods', 'kept')).map(({ metadata }) => metadata.uid).toSorted(), before.toSorted());
      await kubectl(['delete', kind, 'kept', '--cascade=foreground', WAIT]);
      assert.deepEqual(await listed('pods', 'kept'), []);
    });

  test('a Deployment keeps as many old ReplicaSets as its history limit', async () => {
    await apply('Deployment', 'short', { replicas: 1, revisionHistoryLimit: 1 });
    for (const image of ['two', 'three', 'four']) {
      await kubectl(['rollout', 'status', 'deployment/short', WAIT]);
      await kubectl(['set', 'image', 'deployment/short', `main=${image}`]);
    }
    await kubectl(['rollout', 'status', 'deployment/short', WAIT]);
    await until('old ReplicaSets are gone', async () => (await listed('replicasets', 'short')).length <= 2);
    await kubectl(['delete', 'deployment', 'short', '--cascade=foreground', WAIT]);
  });

  test('the server rejects a negative number of replicas', async () => {
    await assert.rejects(
      apply('Deployment', 'less', { replicas: -1 }),
      /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/,
    );
  });

  test('a deleted pod of a ReplicaSet is recreated under another name', async () => {
    await apply('ReplicaSet', 'set', { replicas: 2 });
    await kubectl(['wait', '--for=jsonpath={.status.readyReplicas}=2', 'replicaset/set', WAIT]);
    const [one] = await listed('pods', 'set');
    await kubectl(['delete', 'pod', one?.metadata.name ?? '', WAIT]);
    // Until another pod is created, the status still counts the deleted one.
    await until('there are two again', async () => (await listed('pods', 'set')).length === 2);
    await kubectl(['wait', '--for=jsonpath={.status.readyReplicas}=2', 'replicaset/set', WAIT]);
    const after = await listed('pods', 'set');
    assert.equal(after.length, 2);
    assert.ok(after.every(({ metadata }) => metadata.name !== one?.metadata.name));
    await kubectl(['delete', 'replicaset', 'set', '--cascade=foreground', WAIT]);
  });

  test('a StatefulSet makes its pods in order, scales down from the highest, and rolls from the highest', async () => {
    await apply('StatefulSet', 'db', { replicas: 3, serviceName: 'db' });
    await kubectl(['rollout', 'status', 'statefulset/db', WAIT]);
    const pods = await listed('pods', 'db');
    assert.deepEqual(
      pods.map(({ metadata }) => metadata.name),
      ['db-0', 'db-1', 'db-2'],
    );
    await kubectl(['delete', 'pod', 'db-1', WAIT]);
    // `kubectl wait` fails if the pod does not exist.
    await until('it is made again', async () => (await listed('pods', 'db')).some(({ metadata }) => metadata.name === 'db-1'));
    await kubectl(['wait', '--for=condition=Ready', 'pod/db-1', WAIT]);
    await kubectl(['set', 'image', 'statefulset/db', 'main=two']);
    await kubectl(['rollout', 'status', 'statefulset/db', WAIT]);
    const revisions = (await listed('pods', 'db')).map(({ metadata }) => metadata.labels?.['controller-revision-hash']);
    assert.equal(new Set(revisions).size, 1);
    assert.notEqual(revisions[0], pods[0]?.metadata.labels?.['controller-revision-hash']);
    await kubectl(['scale', 'statefulset/db', '--replicas=1']);
    await kubectl(['wait', '--for=delete', 'pod/db-2', 'pod/db-1', WAIT]);
    assert.deepEqual(
      (await listed('pods', 'db')).map(({ metadata }) => metadata.name),
      ['db-0'],
    );
    await kubectl(['delete', 'statefulset', 'db', '--cascade=foreground', WAIT]);
  });

  test('ordinals of a StatefulSet begin at its spec.ordinals.start, and move when that changes', async () => {
    await apply('StatefulSet', 'from', { replicas: 2, serviceName: 'from', ordinals: { start: 5 } });
    await kubectl(['rollout', 'status', 'statefulset/from', WAIT]);
    const names = async (): Promise<readonly string[]> => (await listed('pods', 'from')).map(({ metadata }) => metadata.name);
    assert.deepEqual(await names(), ['from-5', 'from-6']);
    await kubectl(['patch', 'statefulset', 'from', '--type=merge', '-p', '{"spec":{"ordinals":{"start":6}}}']);
    await until('it moved', async () => (await names()).join() === 'from-6,from-7');
    await kubectl(['delete', 'statefulset', 'from', '--cascade=foreground', WAIT]);
  });

  test('a PodDisruptionBudget lets one pod after another be evicted, each when the one before is recreated', async () => {
    await apply('Deployment', 'kept', { replicas: 3 });
    await kubectl(['rollout', 'status', 'deployment/kept', WAIT]);
    await kubectl(['create', 'poddisruptionbudget', 'kept', '--selector=app=kept', '--min-available=2']);
    await kubectl(['wait', '--for=jsonpath={.status.disruptionsAllowed}=1', 'pdb/kept', WAIT]);
    const before = await listed('pods', 'kept');
    const evict = (name: string): Promise<void> => client.evict({ namespace: 'default', name });
    const [first, second] = before.map(({ metadata }) => metadata.name);
    const ends = await Promise.allSettled([evict(first ?? ''), evict(second ?? '')]);
    assert.deepEqual(new Set(ends.map(({ status }) => status)), new Set(['fulfilled', 'rejected']), 'two at once are one too many');
    await kubectl(['wait', '--for=jsonpath={.status.disruptionsAllowed}=1', 'pdb/kept', WAIT]);
    const refused = (ends[0]?.status === 'rejected' ? first : second) ?? '';
    await evict(refused);
    await kubectl(['rollout', 'status', 'deployment/kept', WAIT]);
    assert.equal((await listed('pods', 'kept')).filter(({ metadata }) => [first, second].includes(metadata.name)).length, 0);
    await kubectl(['delete', 'pdb/kept', 'deployment/kept', '--cascade=foreground', WAIT]);
  });

  test('a Service has the addresses of its ready pods in Endpoints and a slice, and both are deleted with it', async () => {
    await apply('Deployment', 'served', { replicas: 2 });
    await kubectl(['rollout', 'status', 'deployment/served', WAIT]);
    await kubectl(['expose', 'deployment', 'served', '--port=80', '--target-port=8080']);
    const addresses = async (): Promise<readonly string[]> =>
      (await kubectl(['get', 'endpoints', 'served', '--ignore-not-found', '-o', 'jsonpath={.subsets[*].addresses[*].targetRef.name}']))
        .split(' ')
        .filter((name) => name !== '');
    const pods = async (): Promise<readonly string[]> => (await listed('pods', 'served')).map(({ metadata }) => metadata.name).toSorted();
    await until('both pods are there', async () => (await addresses()).length === 2);
    assert.deepEqual(await addresses(), await pods());
    await until('the Service shows them', async () =>
      /^Endpoints: +\S+:8080,\S+:8080$/m.test(await kubectl(['describe', 'svc', 'served'])),
    );
    await kubectl(['scale', 'deployment/served', '--replicas=3']);
    await until('the third is there', async () => (await addresses()).length === 3);
    const slices = async (): Promise<string> =>
      await kubectl([
        'get',
        'endpointslices',
        '-l',
        'kubernetes.io/service-name=served',
        '-o',
        'jsonpath={.items[*].endpoints[*].targetRef.name}',
      ]);
    await until('the slice has them too', async () => (await slices()).split(' ').toSorted().join() === (await pods()).join());
    await kubectl(['delete', 'svc', 'served']);
    await until('both are gone', async () => (await slices()) === '' && (await addresses()).length === 0);
    await kubectl(['delete', 'deployment', 'served', '--cascade=foreground', WAIT]);
  });

  test('a DaemonSet has a pod on each node that it selects', async () => {
    await apply('DaemonSet', 'agent', {});
    await kubectl(['rollout', 'status', 'daemonset/agent', WAIT]);
    const nodes = (await listed('pods', 'agent')).map(({ spec }) => spec.nodeName);
    assert.equal(nodes.length, 3);
    assert.deepEqual(new Set(nodes), new Set(['node-1', 'node-2', 'node-3']));
    await kubectl([
      'patch',
      'daemonset',
      'agent',
      '--type=merge',
      '-p',
      '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"node-2"}}}}}',
    ]);
    await kubectl(['wait', '--for=jsonpath={.status.desiredNumberScheduled}=1', 'daemonset/agent', WAIT]);
    await kubectl(['rollout', 'status', 'daemonset/agent', WAIT]);
    await until(
      'that node alone has one',
      async () => (await listed('pods', 'agent')).map(({ spec }) => spec.nodeName).join() === 'node-2',
    );
    await kubectl(['delete', 'daemonset', 'agent', '--cascade=foreground', WAIT]);
  });

  // The last test, because it deletes a node.
  test('pods are bound to no node that is deleted or cordoned, and to one that is there again', async () => {
    const nodesOf = async (app: string): Promise<readonly (string | undefined)[]> =>
      (await listed('pods', app)).map(({ spec }) => spec.nodeName);
    const node = await kubectl(['get', 'node', 'node-3', '-o', 'json']);
    await kubectl(['delete', 'node', 'node-3', WAIT]);
    await kubectl(['cordon', 'node-2']);
    await kubectl(['cordon', 'node-1']);
    await apply('Deployment', 'spread', { replicas: 4 });
    await until('its pods exist', async () => (await nodesOf('spread')).length === 4);
    await sleep(500);
    assert.deepEqual(new Set(await nodesOf('spread')), new Set([undefined]), 'no node takes them');
    await kubectl(['uncordon', 'node-1']);
    await kubectl(['rollout', 'status', 'deployment/spread', WAIT]);
    assert.deepEqual(new Set(await nodesOf('spread')), new Set(['node-1']));
    const { metadata, spec, status } = JSON.parse(node) as { metadata: { name: string; labels: object }; spec: object; status: object };
    const again = { apiVersion: 'v1', kind: 'Node', metadata: { name: metadata.name, labels: metadata.labels }, spec, status };
    await kubectl(['create', '-f', '-'], JSON.stringify(again));
    await kubectl(['cordon', 'node-1']);
    await kubectl(['scale', 'deployment/spread', '--replicas=5']);
    await until('the new pod is there', async () => (await nodesOf('spread')).includes('node-3'));
    await kubectl(['delete', 'deployment', 'spread', '--cascade=foreground', WAIT]);
  });
});
