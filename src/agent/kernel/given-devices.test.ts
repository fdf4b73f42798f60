/** A machine's device after it was answered: its launcher or runtime has taken the addresses, or the name, of the inner end. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENT } from '../../runtime/log.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { Changes } from '../listing/changes.ts';
import { Retries } from '../retries.ts';
import { POD_DEVICE } from '../testing/pod-device.ts';
import { NodeWorld, type ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput, RetainedDeviceOutput } from '../world/outputs.ts';
import { HostNetwork } from './host-network.ts';
import { KernelTarget } from './kernel-target.ts';
import type { Programs } from './programs.ts';

const NAME = POD_DEVICE.name;
const OUTPUT = POD_DEVICE;
const RETAINED: RetainedDeviceOutput = { kind: 'retained-device', name: NAME, namespacePath: '/run/netns/a', innerName: 'eth0' };
const HOST = { ifname: NAME, ifalias: OUTPUT.alias, mtu: 1_400, flags: ['UP', 'NOARP'], link_netnsid: 0 };
const INNER = { ifname: 'eth0', address: OUTPUT.mac, mtu: 1_400, link_netnsid: 0 };

/** A node with the pair of an earlier process. */
class Node {
  host: object = HOST;
  inner: object | undefined;
  readonly written: string[] = [];
  readonly world = new NodeWorld();
  readonly target: KernelTarget;
  #woken = Promise.withResolvers<void>();

  constructor(inner: object | undefined) {
    this.inner = inner;
    const [clock, log, wake] = [new ManualClock(), SILENT, (): void => this.#woken.resolve()];
    const run: Programs['run'] = ([program], input = '') => {
      const lines = input.split('\n').filter((line) => line !== '' && !/ show\b/.test(line));
      this.written.push(...lines);
      if (lines.some((line) => line.endsWith(' up'))) this.host = HOST;
      if (program !== 'nsenter') return Promise.resolve({ ok: true, output: [[this.host], [], [this.host]].map(line).join('') });
      if (this.inner === undefined) return Promise.resolve({ ok: false, message: 'Device "eth0" does not exist.' });
      return Promise.resolve({ ok: true, output: [[this.inner], []].map(line).join('') });
    };
    const programs: Programs = {
      ...({} as Programs),
      run,
      sleep: () => Promise.resolve(),
      converse: () => ({
        ask: (lines) => {
          this.written.push(...lines.filter((one) => !/ show\b/.test(one)));
          return Promise.resolve({ ok: true, output: [[this.inner], []].map(line).join('') });
        },
        end: () => undefined,
      }),
      watch: () => () => {},
    };
    const host = new HostNetwork(programs);
    const changes = new Changes({ programs, clock, log });
    const retries = new Retries(clock, this.world, () => {});
    this.target = new KernelTarget({ programs, retries, changes, log, wake, world: this.world, clock, host, removals: host });
    this.target.start();
    clock.advance(1);
  }

  async turn(output?: DeviceOutput | RetainedDeviceOutput): Promise<ObservedDevice | undefined> {
    while (!this.target.observed) await Promise.resolve();
    this.#woken = Promise.withResolvers();
    if (output === undefined) this.target.examineAll();
    else {
      for (const former of this.target.desired.of(NAME)) this.target.desired.remove(former);
      this.target.desired.add(output);
    }
    this.target.flush();
    await this.#woken.promise;
    return this.world.devices.peek(NAME);
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

const TAKEN = [
  ['the runtime took the addresses, as gVisor', { ...INNER, flags: ['UP'], addr_info: [] }],
  ['the launcher gave it another name', undefined],
  ['the launcher put a dummy in its place', { ifname: 'eth0', address: '02:00:00:00:00:09', mtu: 1_500, flags: [], addr_info: [] }],
] as const;

for (const [what, inner] of TAKEN)
  test(`nothing is written after a restart of the agent, nor later: ${what}`, async () => {
    const node = new Node(inner);
    // The API server may be away at the start: then the pod comes later.
    assert.notEqual((await node.turn(RETAINED))?.kind, 'absent');
    assert.partialDeepStrictEqual(await node.turn({ ...OUTPUT, ofMachine: true }), {
      kind: 'present',
      up: true,
      addresses: OUTPUT.addresses,
    });
    await node.turn({ ...OUTPUT, ofMachine: true, connected: false });
    await node.turn({ ...OUTPUT, ofMachine: true });
    assert.deepEqual(node.written, []);
    node.host = { ...HOST, flags: [] };
    await node.turn();
    assert.deepEqual(node.written, [`link set dev ${NAME} mtu 1400 alias ${OUTPUT.alias} txqueuelen 1000 up`]);
  });

test('an ADD of a machine that was killed in the middle is completed: its end has the name, and is down', async () => {
  const node = new Node({ ...INNER, flags: [], addr_info: [] });
  await node.turn({ ...OUTPUT, ofMachine: true, connected: false });
  node.written.length = 0;
  await node.turn({ ...OUTPUT, ofMachine: true }).catch(() => undefined);
  assert.ok(node.written.includes('address replace 10.16.0.5/16 dev eth0'), node.written.join('\n'));
});

test('what a pod that is no machine lost is set again after a restart', async () => {
  const node = new Node(TAKEN[0][1]);
  await node.turn(OUTPUT);
  assert.ok(node.written.includes('address replace 10.16.0.5/16 dev eth0'));
});
