/** Every command that writes tells a denial by an admission webhook from a lack of rights: exit code, cause and next command; and one that reads tells the latter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

let scene: CommandScene;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  await scene.make('vpcs', { metadata: { name: 'blue' } });
  await scene.make('subnets', { metadata: { name: 'net' }, spec: { vpc: 'blue', cidrBlock: '10.93.0.0/24' } });
  await scene.controller.untilQuiet();
  await scene.kiln('reserve', 'held', '--subnet=net', '-n', 'default', '-q');
});

/** The next request of that verb for that resource is answered with 403. */
async function rejected(verb: string, resource: string, message: string): Promise<void> {
  await scene.client.transport.request({
    subject: { verb: 'create', resource: 'faults' },
    method: 'POST',
    path: '/lab/faults',
    body: {
      match: { verbs: [verb], resources: [resource], userAgent: 'kiln-' },
      fault: { kind: 'error', code: 403, reason: 'Forbidden', message },
      times: 1,
    },
  });
}

const DENIAL = 'admission webhook "policy.example.com" denied the request: not on Fridays';
const NO_RIGHT = 'User "tired" cannot do that at the cluster scope';

/** Commands with the write that is answered. */
const WRITES: readonly (readonly [verb: string, resource: string, ...command: readonly string[]])[] = [
  ['create', 'ips.kubeovn.io', 'reserve', 'web', '--subnet=net', '-n', 'default'],
  ['create', 'ips.kubeovn.io', 'reserve', 'web', '--subnet=net', '-n', 'default', '--dry-run=server'],
  ['delete', 'ips.kubeovn.io', 'release', 'held.default', '--yes'],
  ['delete', 'ips.kubeovn.io', 'release', 'held.default', '--dry-run=server'],
  ['delete', 'ips.kubeovn.io', 'delete', 'vpc', 'blue', '--cascade', '--yes'],
  ['delete', 'ips.kubeovn.io', 'delete', 'vpc', 'blue', '--cascade', '--dry-run=server'],
];

/** After the controller has stopped. */
const LAST_WRITES: typeof WRITES = [
  ['create', 'leases.coordination.k8s.io', 'uninstall', '--yes'],
  ['patch', 'ips.kubeovn.io', 'uninstall', '--yes'],
];

async function tellsApart([verb, resource, ...command]: (typeof WRITES)[number]): Promise<void> {
  const named = `${command.join(' ')} (${verb} ${resource})`;
  await rejected(verb, resource, DENIAL);
  const denied = await scene.kiln(...command);
  assert.equal(denied.exit, 1, `${named}: ${denied.err}`);
  assert.match(
    denied.err,
    /\n {2}why: .*admission webhook "policy\.example\.com" denied the request: not on Fridays\n {2}next: .+\n$/,
    named,
  );
  assert.doesNotMatch(denied.err, /can-i|cannot be allocated/, named);
  await rejected(verb, resource, NO_RIGHT);
  const forbidden = await scene.kiln(...command);
  assert.equal(forbidden.exit, 3, `${named}: ${forbidden.err}`);
  assert.match(forbidden.err, /\n {2}why: KUBE_FORBIDDEN: .*User "tired" cannot do that.*\n {2}next: kubectl auth can-i --list/, named);
}

test('reserve, release and delete, each with its own write', { skip }, async () => {
  for (const write of WRITES) await tellsApart(write);
});

test('a kind that may not be listed is told at once, not after the time limit', { skip }, async () => {
  for (const command of ['diff', 'neighbours', 'gc plan', 'status']) {
    await rejected('list', 'ips.kubeovn.io', NO_RIGHT);
    const { exit, err } = await scene.kiln(...command.split(' '));
    assert.equal(exit, 3, `${command}: ${err}`);
    assert.match(err, /\n {2}why: KUBE_FORBIDDEN: .*User "tired" cannot do that.*\n {2}next: kubectl auth can-i --list/, command);
  }
});

test('uninstall: the Lease, and the objects that it deletes', { skip }, async () => {
  await scene.controller.stop();
  await scene.client.delete(
    { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', kind: 'Lease', namespaced: true },
    { namespace: 'kube-system', name: 'kiln-controller' },
  );
  for (const write of LAST_WRITES) await tellsApart(write);
});
