/** Which process is kubelet, and what tells its connections from others: on folders as the kernel shows them. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { readFile } from 'node:fs/promises';
import type { Ran } from '../kernel/ran.ts';
import { hostPeers } from './host-peers.ts';
import { findKubelet, markOf } from './kubelet-process.ts';

const VERSION_2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';
const HYBRID =
  '31 23 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n32 23 0:28 / /sys/fs/cgroup/net_cls,net_prio rw - cgroup cgroup rw,net_cls,net_prio';
let proc: string;
before(async () => (proc = await mkdtemp(join(tmpdir(), 'kiln-proc-'))));
after(() => rm(proc, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

interface Shown {
  readonly comm: string;
  readonly cgroup: string;
  readonly mounts: string;
  readonly uid?: number;
  readonly net?: string;
}

async function process(pid: number, { comm, cgroup, mounts, uid = 0, net = 'net:[1]' }: Shown): Promise<string> {
  const folder = join(proc, String(pid));
  await rm(folder, { recursive: true, force: true });
  await write(join(folder, 'comm'), `${comm}\n`);
  await write(join(folder, 'status'), `Name:\t${comm}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`);
  await write(join(folder, 'cgroup'), cgroup);
  await write(join(folder, 'mountinfo'), mounts);
  await write(join(folder, 'cmdline'), `/usr/bin/${comm}\0--kubeconfig\0/etc/kubelet.yaml\0`);
  await mkdir(join(folder, 'ns'));
  await symlink(net, join(folder, 'ns/net'));
  return folder;
}

const options = {
  get proc() {
    return proc;
  },
  programs: {
    run: async (command: readonly string[]): Promise<Ran> =>
      command[0] === 'readlink' ? { ok: true, output: 'net:[1]\n' } : { ok: true, output: await readFile(command.at(-1) ?? '', 'utf8') },
  },
};

test('no pod passes for kubelet: neither by the name of a process, nor as root, nor in the network of the node', async () => {
  const pod = '0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope';
  await process(10, { comm: 'kubelet', cgroup: pod, mounts: VERSION_2 });
  await process(11, { comm: 'kubelet', cgroup: '5:cpu:/kubepods/besteffort/pod1/c0ffee/kubelet.service\n0::/', mounts: VERSION_2 });
  await process(12, { comm: 'kubelet', cgroup: '0::/user.slice/a.scope', mounts: VERSION_2, uid: 1000 });
  await process(13, { comm: 'kubelet', cgroup: '0::/docker/b', mounts: VERSION_2, net: 'net:[2]' });
  await process(14, { comm: 'bash', cgroup: '0::/system.slice/kubelet.service', mounts: VERSION_2 });
  assert.equal(await findKubelet(options), undefined);
  assert.match(JSON.stringify(await markOf(undefined, options)), /"none".*hostPID: true/);
  await process(15, { comm: 'kubelet', cgroup: '0::/system.slice/kubelet.service', mounts: VERSION_2 });
  assert.deepEqual(await findKubelet(options), { pid: 15, command: ['/usr/bin/kubelet', '--kubeconfig', '/etc/kubelet.yaml'] });
});

test('its mark: the cgroup of version 2, also beside version 1; the class of net_cls; none where others share it', async () => {
  const mark = async (shown: Omit<Shown, 'comm'>, file?: string, text = ''): Promise<unknown> => {
    const folder = await process(20, { comm: 'kubelet', ...shown });
    if (file !== undefined) await write(join(folder, 'root', file), text);
    return await markOf({ pid: 20, command: [] }, options);
  };
  for (const [mounts, at] of [
    [VERSION_2, '/sys/fs/cgroup'],
    [HYBRID, '/sys/fs/cgroup/unified'],
  ] as const) {
    const path = '/system.slice/kubelet.service';
    const found = await mark({ cgroup: `4:cpu:/\n0::${path}\n`, mounts }, `${at}${path}/cgroup.procs`);
    const file = `${proc}/20/root${at}${path}`;
    const id = String((await stat(file)).ino);
    assert.deepEqual(found, { kind: 'cgroup', path: path.slice(1), file: `../../..${file}`, id, namespace: `${proc}/20/ns/cgroup` });
  }
  const classid = '/sys/fs/cgroup/net_cls,net_prio/kubelet/net_cls.classid';
  const ofClass = { cgroup: '6:net_cls,net_prio:/kubelet\n0::/\n', mounts: HYBRID };
  assert.deepEqual(await mark(ofClass, classid, '19201\n'), { kind: 'class', id: 19_201 });
  const shared: readonly (readonly [Omit<Shown, 'comm'>, string?, string?])[] = [
    [ofClass, classid, '0\n'],
    [{ cgroup: '6:net_cls,net_prio:/\n0::/\n', mounts: HYBRID }],
    [{ cgroup: '0::/system.slice\n', mounts: VERSION_2 }, '/sys/fs/cgroup/system.slice/x'],
    [{ cgroup: '0::/system.slice/gone.service\n', mounts: VERSION_2 }],
    [{ cgroup: '', mounts: '' }],
  ];
  for (const shown of shared) assert.match(JSON.stringify(await mark(...shown)), /"none".*no cgroup of its own.*net_cls/);
});

test('whom the node talks to: API servers, resolvers and registries, by address and by name', async () => {
  const root = join(proc, 'root');
  const server = (url: string): string => `clusters:\n- cluster:\n    certificate-authority-data: AA\n    server: ${url}\n  name: c\n`;
  await write(join(root, 'etc/kubelet.yaml'), server('https://api.shop.example:6443'));
  await write(join(root, 'etc/kubernetes/admin.conf'), server('https://[2001:DB8::1]:6443'));
  await write(join(root, 'etc/kubernetes/ignored.txt'), server('https://192.0.2.99'));
  await write(join(root, 'etc/hosts'), '127.0.0.1 localhost\n203.0.113.10 api.shop.example API # load balancer\n');
  await write(join(root, 'etc/resolv.conf'), 'search example\nnameserver 192.0.2.53\nnameserver fe80::1%eth0\n');
  await write(
    join(root, 'var/lib/rancher/k3s/agent/etc/k3s-agent-load-balancer.json'),
    '{"ServerURL":"https://k3s.example:6443","ServerAddresses":["192.0.2.7:6443"]}',
  );
  await write(join(root, 'etc/containerd/certs.d/mirror.example:5000/hosts.toml'), '');
  const names: Record<string, string> = {
    'mirror.example': '192.0.2.80',
    'registry-1.docker.io': '192.0.2.81',
    'k3s.example': '192.0.2.8',
  };
  const resolve = (name: string): Promise<readonly string[]> =>
    names[name] === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve([names[name] ?? '']);
  const command = ['kubelet', '--kubeconfig=/etc/kubelet.yaml'];
  const found = await hostPeers({ root, command, registries: ['docker.io', '192.0.2.82:5000', 'gone.example'] }, resolve);
  assert.deepEqual(Object.fromEntries(found), {
    '192.0.2.53': 'a resolver in /etc/resolv.conf',
    '192.0.2.7': 'a server in /var/lib/rancher/k3s/agent/etc/k3s-agent-load-balancer.json',
    '192.0.2.8': 'a server in /var/lib/rancher/k3s/agent/etc/k3s-agent-load-balancer.json (k3s.example)',
    '192.0.2.80': 'registry mirror.example:5000 (mirror.example)',
    '192.0.2.81': 'registry docker.io (registry-1.docker.io)',
    '192.0.2.82': 'registry 192.0.2.82:5000',
    '2001:db8::1': 'the API server in /etc/kubernetes/admin.conf',
    '203.0.113.10': 'the API server in /etc/kubelet.yaml (api.shop.example)',
    'fe80::1': 'a resolver in /etc/resolv.conf',
  });
});
