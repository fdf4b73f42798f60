/** `kiln start --packets` as a user has it: a process with nodes that carry packets, and `kiln lab exec` into their pods. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findOvn } from '../../lab/programs/ovn.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { KILN, runKiln } from '../../src/cli/testing/kiln-process.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { type KubeObject, PODS } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { until } from '../../src/testing/until.ts';

const skip = whyNoPackets() ?? (findOvn() === undefined && 'OVN is not installed');

interface RunningPod extends KubeObject {
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** Network namespaces of one laboratory have its process id in their names. */
function namespacesOf(pid: number | undefined): readonly string[] {
  return existsSync('/run/netns') ? readdirSync('/run/netns').filter((name) => name.startsWith(`kiln-${pid}-`)) : [];
}

test(
  'a laboratory with packets: ping from kiln lab exec, a message for pods without network, and nothing left at the end',
  { skip },
  async (t) => {
    const directory = await makeTemporaryFolder('kiln-lab-test-');
    t.after(() => rm(directory, { recursive: true, force: true }));
    const flags = ['--packets', '--no-demo', '--no-webhook', '--metrics-bind-address=off', `--directory=${directory}`];
    const lab = spawn(KILN, ['start', ...flags], { env: { ...testEnvironment(), LC_ALL: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'pipe'] });
    t.after(() => lab.kill('SIGKILL'));
    let shown = '';
    for (const stream of [lab.stdout, lab.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (shown += text));
    await until('the laboratory is ready', () => {
      assert.equal(lab.exitCode, null, shown);
      return shown.includes('Ready after');
    });
    const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: join(directory, 'kubeconfig') })));
    t.after(() => client.close());
    const create = async (name: string, nodeName: string, annotations: Readonly<Record<string, string>> = {}): Promise<void> => {
      const spec = { nodeName, containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 };
      await client.create<KubeObject>(PODS, { metadata: { name, namespace: 'default', annotations }, spec } as KubeObject);
    };
    const addressOf = async (name: string): Promise<string> => {
      let pod: RunningPod | undefined;
      await until(`pod ${name} runs`, async () => {
        pod = await client.find<RunningPod>(PODS, { namespace: 'default', name });
        return pod?.status?.phase === 'Running';
      });
      return pod?.status?.podIP ?? '';
    };
    const exec = (...words: readonly string[]): ReturnType<typeof runKiln> =>
      runKiln(['lab', 'exec', `--directory=${directory}`, ...words]);

    await create('web', 'node-1');
    await create('db', 'node-2');
    await create('lost', 'node-2', { 'ovn.kubernetes.io/logical_switch': 'nowhere' });
    const [, address] = [await addressOf('web'), await addressOf('db')];
    const ping = await exec('default/web', '--', 'ping', '-n', '-c', '1', '-w', '5', address);
    assert.deepEqual([ping.exit, ping.err], [0, ''], ping.out);
    assert.match(ping.out, /1 received/);
    assert.equal((await exec('web', '--', 'sh', '-c', 'exit 7')).exit, 7);

    // A pod without a network, and one that does not exist.
    const lost = await exec('lost', '--', 'true');
    assert.match(lost.err, /^error: pod default\/lost is not running yet\n {2}why: .+\n {2}next: kubectl describe pod lost -n default\n$/);
    const none = await exec('none', '--', 'true');
    assert.deepEqual([lost.exit, none.exit], [1, 1]);
    assert.match(none.err, /^error: pod default\/none has no network\n/);

    // Pods end: the address is silent, and the namespace gone.
    await client.delete(PODS, { namespace: 'default', name: 'db' });
    await client.delete(PODS, { namespace: 'default', name: 'lost' });
    await until('their namespaces are gone', () => !namespacesOf(lab.pid).some((name) => /-(db|lost)$/.test(name)));
    assert.equal((await exec('web', '--', 'ping', '-c', '1', '-w', '1', address)).exit, 1);

    lab.kill('SIGINT');
    await once(lab, 'exit');
    assert.deepEqual(namespacesOf(lab.pid), []);
    const ended = await exec('web', '--', 'true');
    assert.equal(ended.exit, 1);
    assert.match(ended.err, /^error: no laboratory runs in /);
  },
);
