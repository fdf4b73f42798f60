/** Programs of the host, with the real ones. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '../../testing/until.ts';
import { hostPrograms } from './programs.ts';

const skip = (process.platform !== 'linux' || !existsSync('/usr/bin/setpriv')) && 'Linux with util-linux and iproute2 alone';

test(
  'a conversation answers each question with what its own lines print; a line that fails keeps no other from its effect',
  { skip },
  async () => {
    const ip = hostPrograms.converse(['ip', '-json', '-force', '-batch', '-']);
    const linesOf = (output = ''): readonly string[] => output.split('\n').filter((line) => line !== '');
    for (let round = 0; round < 3; round++) {
      const two = await ip.ask(['address show dev lo', 'neighbour show dev lo']);
      assert.equal(two.ok, true);
      assert.match(linesOf(two.output)[0] ?? '', /"ifname":"lo".*"local":"127\.0\.0\.1"/);
      assert.equal(linesOf(two.output).length, 2);
      const failed = await ip.ask(['address show dev absent', 'address show dev lo']);
      assert.equal(failed.ok, false);
      assert.equal(linesOf(failed.output).length, 1);
      assert.match(failed.ok ? '' : failed.message, /^ip address show dev absent: Device "absent" does not exist\.$/);
    }
    ip.end();
    assert.equal((await ip.ask(['address show dev lo'])).ok, false);
  },
);

test('a program of a conversation that cannot begin is an answer', { skip }, async () => {
  const ip = hostPrograms.converse(['nsenter', '--net=/run/netns/kiln-absent', '--', 'ip', '-force', '-batch', '-']);
  const ran = await ip.ask(['address show dev lo']);
  assert.match(ran.ok ? '' : ran.message, /nsenter: cannot open \/run\/netns\/kiln-absent: No such file or directory/);
});

test('what is watched is told line by line, and its end; it ends with this process, however that ends', { skip }, async () => {
  const said: string[] = [];
  const ended = await new Promise<string>((resolve) =>
    hostPrograms.watch(['seq', '3'], { line: (text) => said.push(text), warned: assert.fail, ended: resolve }),
  );
  assert.deepEqual([said, ended], [['1', '2', '3'], 'it ended with 0']);
  const source = `import { hostPrograms } from ${JSON.stringify(import.meta.resolve('./programs.ts'))};
    hostPrograms.watch(['sh', '-c', 'echo $$; exec sleep 60'], { line: console.log, warned: console.error, ended: console.error });`;
  const parent = spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = Number(await new Promise((resolve) => parent.stdout.setEncoding('utf8').once('data', resolve)));
  assert.ok(existsSync(`/proc/${pid}`));
  parent.kill('SIGKILL');
  await until('the program ends', () => Promise.resolve(!existsSync(`/proc/${pid}`)));
});

test('only some programs run at once, and each ends', { skip }, async () => {
  const ran = await Promise.all(Array.from({ length: 30 }, (_, at) => hostPrograms.run(['cat'], `${at}`)));
  assert.deepEqual(
    ran.map((one) => one.output),
    Array.from({ length: 30 }, (_, at) => `${at}`),
  );
  assert.deepEqual(await hostPrograms.run(['false']), { ok: false, message: 'Command failed: false', output: '' });
});

test('messages are English whatever the language of the agent', { skip }, async (t) => {
  const { env } = process;
  t.after(() => (process.env = env));
  process.env = { ...env, LC_ALL: 'de_DE.UTF-8' };
  const says = ['sh', '-c', 'echo "language $LC_ALL" >&2; exit 1'] as const;
  const watched = await new Promise((resolve) => void hostPrograms.watch(says, { line: assert.fail, warned: resolve, ended: () => {} }));
  const [ran, asked] = [await hostPrograms.run(says), await hostPrograms.converse(says).ask([])];
  assert.deepEqual([ran.ok || ran.message, asked.ok || asked.message, watched], Array(3).fill('language C'));
});

test('a program that a signal ended says so, with what it said before; of nft with the way out', { skip }, async () => {
  const failed = async (...command: readonly [string, ...string[]]): Promise<string> => {
    const ran = await hostPrograms.run(command);
    return ran.ok ? assert.fail('it succeeded') : ran.message;
  };
  assert.equal(await failed('sh', '-c', 'kill -SEGV $$'), 'sh was ended by SIGSEGV');
  assert.equal(await failed('sh', '-c', 'echo "no memory" >&2; kill -KILL $$'), 'sh was ended by SIGKILL: no memory');
  assert.match(
    await failed('sh', '-c', 'kill -SEGV $$', 'nft'),
    /^nft was ended by SIGSEGV; nft 1\.0\.6 .* install nftables 1\.1 or newer/,
  );
  const ip = hostPrograms.converse(['sh', '-c', 'kill -ABRT $$']);
  assert.deepEqual(await ip.ask(['address show dev lo']), { ok: false, message: 'sh was ended by SIGABRT' });
  ip.end();
});
