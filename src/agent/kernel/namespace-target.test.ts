import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GATEWAY_MARK, namespaceStep, observeNamespace, type SeenNamespace } from './namespace-target.ts';
import type { Programs } from './programs.ts';
import type { Ran } from './ran.ts';

/** Answers `ip link show` and `sysctl` in the namespace. */
function programs(links: Ran, parameters: (keys: readonly string[]) => string): Programs {
  return {
    run: async ([, , , program, ...args]: readonly string[]) =>
      program === 'ip' ? links : { ok: true, output: parameters(args.slice(1)) },
  } as unknown as Programs;
}

const RIGHT: Readonly<Record<string, string>> = {
  'net.ipv4.ip_forward': '1',
  'net.ipv6.conf.all.forwarding': '1',
};
const shown = (keys: readonly string[]): string => keys.map((key) => `${key} = ${RIGHT[key] ?? '0'}\n`).join('');
const links = (...some: readonly object[]): Ran => ({ ok: true, output: JSON.stringify(some) });
const UP = ['LOOPBACK', 'UP'];

test('a namespace is the agent`s by the alias of its loopback interface, and complete when it forwards', async () => {
  const seen = async (ran: Ran, parameters = shown): Promise<SeenNamespace> => await observeNamespace(programs(ran, parameters), 'ovnext');
  assert.deepEqual(await seen({ ok: false, message: 'nsenter: cannot open /run/netns/ovnext: No such file or directory' }), {
    kind: 'absent',
  });
  const ours = { ifname: 'lo', ifalias: GATEWAY_MARK, flags: UP };
  const present = { kind: 'present', ours: true, empty: false, complete: true } as const;
  assert.deepEqual(await seen(links(ours)), present);
  assert.deepEqual(await seen(links({ ...ours, flags: ['LOOPBACK'] })), { ...present, complete: false });
  assert.deepEqual(await seen(links(ours), (keys) => shown(keys).replace('ip_forward = 1', 'ip_forward = 0')), {
    ...present,
    complete: false,
  });
  const withoutV6 = (keys: readonly string[]): string => shown(keys.filter((key) => !key.includes('ipv6')));
  assert.deepEqual(await seen(links(ours), withoutV6), present);
  assert.deepEqual(await seen(links({ ifname: 'lo', flags: ['LOOPBACK'] })), { ...present, ours: false, empty: true, complete: false });
  assert.deepEqual(await seen(links({ ifname: 'lo', flags: UP })), { ...present, ours: false, complete: false });
  await assert.rejects(seen({ ok: false, message: 'Operation not permitted' }), /not permitted/);
});

test('it is made, completed, and removed; that of another program is left alone', () => {
  const present = { kind: 'present', ours: true, empty: false, complete: true } as const;
  const cases: readonly (readonly [SeenNamespace, string | undefined, string | undefined])[] = [
    [{ kind: 'absent' }, 'make', undefined],
    [present, undefined, 'remove'],
    [{ ...present, complete: false }, 'complete', 'remove'],
    // Its maker died before it had a mark.
    [{ ...present, ours: false, empty: true, complete: false }, 'complete', undefined],
    [{ ...present, ours: false, complete: false }, 'refuse', undefined],
  ];
  for (const [seen, wanted, unwanted] of cases)
    assert.deepEqual([namespaceStep(seen, true), namespaceStep(seen, false)], [wanted, unwanted], JSON.stringify(seen));
});
