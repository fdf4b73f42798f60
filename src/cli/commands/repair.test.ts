/** `kiln repair` of a cluster with planted faults: nothing happens without consent, what is shown is what is done, and it is proven. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CONTROLLER_LEASE, KUBE_OVN_LEASE } from '../../api/well-known.ts';
import { LEASES } from '../../kube/resource.ts';
import { traitsOf } from '../../world/resources.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { CommandFailure } from '../errors/command-failure.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';
import { makeLiveTenant } from '../testing/live-tenant.ts';
import { runRepair } from './repair.ts';

let scene: CommandScene;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  await makeLiveTenant(scene);
  assert.equal((await scene.kiln('wait', 'pod/default/web', '--for=Bound')).exit, 0);
  await scene.controller.untilQuiet();
  await scene.controller.stop();
});
const directory = mkdtempSync(join(tmpdir(), 'kiln-repair-'));
after(() => rmSync(directory, { recursive: true }));

async function findings(): Promise<ReadonlyMap<string, string>> {
  const { out } = await scene.kiln('audit', '-o', 'json');
  const { groups } = JSON.parse(out) as { readonly groups: readonly { readonly findings: readonly { id: string; subject: string }[] }[] };
  return new Map(groups.flatMap((group) => group.findings.map(({ id, subject }) => [subject, id])));
}

function leak(name: string, address: string): object {
  return {
    metadata: {
      name: `${name}.default`,
      labels: { 'ovn.kubernetes.io/subnet': 'live-net' },
      finalizers: ['kubeovn.io/kube-ovn-controller'],
    },
    spec: {
      ...{ podName: name, namespace: 'default', subnet: 'live-net', v4IpAddress: address, v6IpAddress: '', ipAddress: address },
      ...{ macAddress: '00:00:00:11:22:33', nodeName: 'n', attachIps: [], attachMacs: [], attachSubnets: [], podType: '', containerID: '' },
    },
  };
}

test('one finding: the plan with what follows from it, no consent without a terminal, then it alone is repaired', { skip }, async () => {
  await scene.make('ips', leak('gone', '10.98.0.77'));
  await scene.nbctl('lsp-del', 'web.default');
  await scene.nbctl('set', 'Logical_Router', 'live', 'options:mac_binding_age_threshold=7');
  const id = (await findings()).get('IP gone.default') ?? '';
  const asked = await scene.kiln('repair', id);
  assert.equal(asked.exit, 2);
  assert.match(asked.out, /delete {3}IP gone\.default: it has 10\.98\.0\.77/);
  assert.match(asked.out, /metadata\.finalizers \["kubeovn\.io\/kube-ovn-controller"\] -> none/);
  assert.doesNotMatch(asked.out, /web\.default|Logical_Router/);
  assert.match(asked.err, /no terminal for the confirmation/);
  assert.notEqual(await scene.client.find(traitsOf('ips'), { name: 'gone.default' }), undefined);

  const { exit, out, err } = await scene.kiln('repair', id, '--yes');
  assert.equal(exit, 0, out + err);
  assert.match(err, /repaired 1 of 1 finding, proven by a second audit/);
  assert.equal(await scene.client.find(traitsOf('ips'), { name: 'gone.default' }), undefined);
  const left = await findings();
  assert.ok(left.has('Logical_Router live') && left.has('Logical_Switch_Port web.default'), [...left.keys()].join());
});

/** Repairs in the process of the test. @param meanwhile runs while the user is asked */
async function repairing(meanwhile: () => Promise<void>, said: (line: string, stop: () => void) => void): Promise<number> {
  let stop = (): void => undefined;
  const io: CommandIo = {
    client: scene.client,
    namespace: 'default',
    out: (output) => said(String(output), stop),
    say: (line) => said(String(line), stop),
    paint: (_, text) => text,
    lastWords: () => undefined,
    onInterrupt: (stopping) => {
      stop = stopping;
    },
    ask: async () => {
      await meanwhile();
      return true;
    },
  };
  const flags = { dryRun: 'none', output: 'table', timeout: '60s', requestTimeout: '60s', leaseNamespace: 'kube-system' } as const;
  return await runRepair([], { ...flags, all: true, color: 'never', ovnNb: scene.ovnNb }, io).catch((error: unknown) => {
    if (!(error instanceof CommandFailure)) throw error;
    said(error.why, stop);
    return error.exit;
  });
}

test('a plan older than the prompt: it stops, and changes nothing; Ctrl-C: no step is begun after it', { skip }, async () => {
  const lines: string[] = [];
  // The port is made by hand while the user is asked.
  const meanwhile = async (): Promise<void> => void (await scene.nbctl('lsp-add', 'live-net', 'web.default'));
  assert.equal(await repairing(meanwhile, (line) => lines.push(line)), 1);
  assert.ok(
    lines.some((line) => line.startsWith('stopped: the plan is not what was shown any more')),
    lines.join('\n'),
  );
  assert.match(await scene.nbctl('get', 'Logical_Router', 'live', 'options'), /age_threshold="7"/);
  await scene.nbctl('lsp-del', 'web.default');

  lines.length = 0;
  const exit = await repairing(
    () => Promise.resolve(),
    (line, stop) => {
      lines.push(line);
      if (line.startsWith('step 1 of')) stop();
    },
  );
  assert.equal(exit, 130, lines.join('\n'));
  assert.ok(lines.some((line) => /^interrupted: \d+ done, \d+ not done/.test(line)));
});

test('without a journal that can be written nothing is changed', { skip }, async () => {
  const file = join(directory, 'no-directory');
  writeFileSync(file, '');
  const { exit, err } = await scene.kiln('repair', '--all', '--yes', '--journal', file);
  assert.equal(exit, 1, err);
  assert.match(
    err,
    /error: nothing was changed\n {2}why: what changes is written into the journal first, and --journal=.*no-directory cannot be written/,
  );
  rmSync(file);
});

test('all findings: rows with before and after, journaled, and nothing is found afterwards', { skip }, async () => {
  const { exit, out, err } = await scene.kiln('repair', '--all', '--yes', '--journal', directory);
  assert.equal(exit, 0, out + err);
  assert.match(out, /make {5}Logical_Switch_Port web\.default: .*addresses/);
  assert.match(out, /change {3}Logical_Router live: options:mac_binding_age_threshold 7 -> /);
  assert.equal((await scene.kiln('audit')).exit, 0);
  assert.match(await scene.nbctl('lsp-get-addresses', 'web.default'), /10\.98\.0\.2/);
  const again = await scene.kiln('repair', '--all', '--yes');
  assert.deepEqual([again.exit, again.out], [0, '']);
});

test("while Kube-OVN's controller leads, nothing is changed", { skip }, async () => {
  await scene.nbctl('set', 'Logical_Router', 'live', 'options:mac_binding_age_threshold=7');
  const now = new Date().toISOString().replace('Z', '000Z');
  const lease = { holderIdentity: 'other', leaseDurationSeconds: 30, acquireTime: now, renewTime: now, leaseTransitions: 1 };
  await scene.client.create(LEASES, { metadata: { name: KUBE_OVN_LEASE, namespace: 'kube-system' }, spec: lease } as never);
  const { exit, err } = await scene.kiln('repair', '--all', '--yes');
  assert.equal(exit, 1);
  assert.match(err, /Kube-OVN's controller leads \(other holds Lease/);
  assert.match(await scene.nbctl('get', 'Logical_Router', 'live', 'options'), /age_threshold="7"/);
  await scene.client.delete(LEASES, { name: KUBE_OVN_LEASE, namespace: 'kube-system' });
});

test(
  "while Kiln's controller leads, it makes the changes, and the command waits for it; not in time: what is not done",
  { skip },
  async () => {
    await scene.nbctl('set', 'Logical_Router', 'live', 'options:mac_binding_age_threshold=7');
    const name = { namespace: 'kube-system', name: CONTROLLER_LEASE };
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    await scene.client.mergePatch(LEASES, name, { spec: { holderIdentity: 'leader', leaseDurationSeconds: 600, renewTime } });
    try {
      const late = await scene.kiln('repair', '--all', '--yes', '--timeout', '1s');
      assert.equal(late.exit, 1, late.err);
      assert.match(late.err, /the controller leader leads[\s\S]*stopped: leader has not made 1 of these changes in 1s: /);
      assert.match(await scene.nbctl('get', 'Logical_Router', 'live', 'options'), /age_threshold="7"/, 'it writes nothing itself');
      const waiting = scene.kiln('repair', '--all', '--yes');
      await scene.nbctl('set', 'Logical_Router', 'live', 'options:mac_binding_age_threshold=300');
      const { exit, err } = await waiting;
      assert.equal(exit, 0, err);
    } finally {
      await scene.client.mergePatch(LEASES, name, { spec: { holderIdentity: '' } });
    }
  },
);

test('usage: neither findings nor --all; an id that no audit has', { skip }, async () => {
  assert.equal((await scene.kiln('repair')).exit, 2);
  const unknown = await scene.kiln('repair', '00000000', '--yes');
  assert.equal(unknown.exit, 1);
  assert.match(unknown.err, /there is no finding 00000000/);
});
