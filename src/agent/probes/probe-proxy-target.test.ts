import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENT } from '../../runtime/log.ts';
import { systemClock } from '../../timing/clock.ts';
import { until } from '../../testing/until.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Ran } from '../kernel/ran.ts';
import { Retries } from '../retries.ts';
import { NodeWorld } from '../world/node-world.ts';
import type { Probe } from '../world/probe.ts';
import { ProbeProxyTarget } from './probe-proxy-target.ts';

test('without the program that connects to pods the node says why no probe passes, and no more once it is there', async () => {
  const world = new NodeWorld();
  let ran: Ran = { ok: false, message: 'spawn socat ENOENT' };
  const never = (): never => assert.fail();
  const programs: Programs = { run: () => Promise.resolve(ran), converse: never, watch: never, sleep: never };
  const wake = (): void => {};
  const target = new ProbeProxyTarget({
    world,
    programs,
    host: { kubelet: () => Promise.resolve({ kind: 'class', id: 7 }), peers: () => Promise.resolve(new Map()) },
    retries: new Retries(systemClock, world, wake),
    clock: systemClock,
    log: SILENT,
    wake,
  });
  try {
    const probed = (port: number): void => {
      const probes: readonly Probe[] = [{ kind: 'http', port, tls: false, path: '/', headers: [] }];
      target.desired.add({
        kind: 'probed-pod',
        pod: `shop/web-${port}`,
        namespacePath: '/run/netns/a',
        address: '127.0.0.1',
        port,
        probes,
        registries: [],
      });
      target.flush();
    };
    probed(8080);
    await until('it is told', () =>
      Promise.resolve(/socat does not run.*ENOENT.*install/.test(world.failures.peek('program socat') ?? '')),
    );
    ran = { ok: true, output: '' };
    probed(8081);
    await until('it is over', () => Promise.resolve(world.failures.peek('program socat') === undefined));
  } finally {
    await target.stop();
  }
});
