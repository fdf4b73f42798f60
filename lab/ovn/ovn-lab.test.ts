import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { findOvn, type OvnRelease } from '../programs/ovn.ts';
import { until } from '../../src/testing/until.ts';
import { OvnLab } from './ovn-lab.ts';

/** A zombie (state Z) counts as dead. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function pids(lab: OvnLab): number[] {
  return (['nb', 'sb', 'northd'] as const).map((which) => lab.pid(which) ?? assert.fail(`${which} does not run`));
}

for (const release of ['system', '25.03'] satisfies OvnRelease[]) {
  const skip = findOvn(release) === undefined && `OVN ${release} is not installed`;

  test(`OVN ${release}: two switches behind a router reach each other in ovn-trace`, { skip }, async () => {
    await using lab = new OvnLab({ release, tcp: true });
    await lab.start();
    const before = pids(lab);
    await lab.start();
    assert.deepEqual(pids(lab), before, 'a second start starts nothing');

    const commands = ['lr-add r'];
    for (const n of [1, 2]) {
      commands.push(`ls-add s${n}`, `lsp-add s${n} p${n}`, `lsp-set-addresses p${n} 0a:00:00:00:00:0${n}\t10.0.${n}.5`);
      commands.push(`lrp-add r r-s${n} 0a:00:00:00:01:0${n} 10.0.${n}.1/24`, `lsp-add s${n} s${n}-r`);
      commands.push(`lsp-set-type s${n}-r router`, `lsp-set-addresses s${n}-r router`, `lsp-set-options s${n}-r router-port=r-s${n}`);
    }
    const args = commands.flatMap((command) => ['--', ...command.split(' ').map((word) => word.replace('\t', ' '))]);
    await lab.nbctl('--wait=sb', ...args);
    const packet =
      'inport == "p1" && eth.src == 0a:00:00:00:00:01 && eth.dst == 0a:00:00:00:01:01 && ip4.src == 10.0.1.5 && ip4.dst == 10.0.2.5 && ip.ttl == 64 && icmp4';
    assert.match(await lab.trace('--minimal', 's1', packet), /output\("p2"\)/);
    assert.match(await lab.sbctl('list', 'Datapath_Binding'), /name=r/);
    assert.match(await lab.nbctl(`--db=${lab.nbTcpEndpoint}`, 'ls-list'), /\(s2\)/);
  });

  test(`OVN ${release}: what was committed survives kill -9, and nothing is left after stop`, { skip }, async () => {
    const lab = new OvnLab({ release });
    await lab.start();
    const { directory } = lab;
    await lab.nbctl('ls-add', 'kept');
    for (const which of ['nb', 'sb', 'northd'] as const) {
      await lab.kill(which);
      assert.equal(lab.pid(which), undefined);
      await lab.restart(which);
    }
    assert.match(await lab.nbctl('--wait=sb', 'ls-list'), /\(kept\)/);
    const running = pids(lab);
    await lab.stop();
    await lab.stop();
    assert.deepEqual(running.filter(isAlive), []);
    assert.equal(existsSync(directory), false);
  });
}

test('the daemons end when their parent is killed, and the folder serves the next laboratory', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-ovn-orphan-'));
  const program = `
    import { OvnLab } from ${JSON.stringify(new URL('./ovn-lab.ts', import.meta.url).href)};
    const lab = new OvnLab({ directory: ${JSON.stringify(directory)} });
    await lab.start();
    await lab.nbctl('ls-add', 'from-before');
    console.log(JSON.stringify(['nb', 'sb', 'northd'].map((which) => lab.pid(which))));
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
  const orphans = JSON.parse(line) as number[];
  assert.equal(orphans.filter(isAlive).length, 3);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await until('the daemons have ended', () => !orphans.some(isAlive));

  const next = new OvnLab({ directory });
  await next.start();
  assert.match(await next.nbctl('ls-list'), /\(from-before\)/);
  await next.stop();
  assert.equal(existsSync(join(directory, 'nb.db')), true, 'a folder that was given is kept');
  await rm(directory, { recursive: true });
});

test('a path too long for a socket is an error with the limit', async () => {
  const lab = new OvnLab({ directory: `/tmp/${'x'.repeat(100)}` });
  await assert.rejects(lab.start(), /at most 96 characters/);
});
