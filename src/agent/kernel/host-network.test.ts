/** One run of `ip` for many callers: each gets its own failures, and what was there after its call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HostNetwork } from './host-network.ts';
import type { Programs } from './programs.ts';
import type { Ran } from './ran.ts';

/** Lines with `wrong` fail. Of each run the links are the lines that were carried out before. */
class FakeIp {
  readonly runs: string[][] = [];
  readonly #done: string[] = [];
  readonly programs: Programs = {
    run: async (_command, input = ''): Promise<Ran> => {
      const lines = input.split('\n').filter((line) => line !== '' && !line.includes(' show'));
      this.runs.push(lines);
      await new Promise((resolve) => setImmediate(resolve));
      this.#done.push(...lines.filter((line) => !line.includes('wrong')));
      const links = this.#done.map((ifname) => ({ ifname, ifalias: `of ${ifname}` }));
      const routes = [
        { dst: 'default', gateway: 'fd00::1', pref: 'medium' },
        { dst: '127.0.0.1', table: 'local' },
        { dst: '10.0.0.0/8', table: '99' },
      ];
      const output = [links.map(({ ifname }) => ({ ifname, addr_info: [] })), routes, links]
        .map((list) => `${JSON.stringify(list)}\n`)
        .join('');
      const failed = lines.flatMap((line, at) =>
        line.includes('wrong') ? [`RTNETLINK answers: ${line}\nCommand failed -:${at + 1}`] : [],
      );
      return failed.length === 0 ? { ok: true, output } : { ok: false, message: failed.join('\n'), output };
    },
    converse: () => assert.fail(),
    watch: () => assert.fail(),
    sleep: () => Promise.resolve(),
  };
}

test('who asks at once shares a run, and who asks meanwhile the next one', async () => {
  const ip = new FakeIp();
  const host = new HostNetwork(ip.programs);
  const first = [host.write(['a']), host.write(['wrong 1', 'b']), host.read()];
  await Promise.resolve();
  await Promise.resolve();
  const second = [host.write(['c']), host.read(), host.write(['d', 'wrong 2', 'wrong 3'])];
  const [a, b, read] = await Promise.allSettled(first);
  assert.deepEqual(a?.status === 'fulfilled' && a.value.links.map(({ ifname }) => ifname), ['a', 'b']);
  assert.match(b?.status === 'rejected' ? String(b.reason) : '', /^Error: ip wrong 1: RTNETLINK answers: wrong 1$/);
  assert.equal(read?.status, 'fulfilled');
  const [c, late, d] = await Promise.allSettled(second);
  assert.equal(c?.status, 'fulfilled');
  assert.deepEqual(late?.status === 'fulfilled' && late.value, {
    links: ['a', 'b', 'c', 'd'].map((ifname) => ({ ifname, ifalias: `of ${ifname}`, addr_info: [] })),
    routes: [{ dst: 'default', gateway: 'fd00::1', pref: 'medium' }],
    otherRoutes: [{ dst: '10.0.0.0/8', table: '99' }],
  });
  assert.match(
    d?.status === 'rejected' ? String(d.reason) : '',
    /wrong 2: RTNETLINK answers: wrong 2; ip wrong 3: RTNETLINK answers: wrong 3$/,
  );
  assert.deepEqual(ip.runs, [
    ['a', 'wrong 1', 'b'],
    ['c', 'd', 'wrong 2', 'wrong 3'],
  ]);
});

test('very many lines are several runs, and without `ip` each hears why', async () => {
  const ip = new FakeIp();
  const host = new HostNetwork(ip.programs);
  await Promise.all(Array.from({ length: 200 }, (_, at) => host.write([`x${at}`, `y${at}`])));
  assert.deepEqual(ip.runs.length, 4);
  assert.equal(ip.runs.flat().length, 400);
  const without = new HostNetwork({ ...ip.programs, run: () => Promise.resolve({ ok: false, message: 'spawn ip ENOENT' }) });
  for (const asked of [without.read(), without.write(['a'])]) await assert.rejects(asked, /spawn ip ENOENT/);
});
