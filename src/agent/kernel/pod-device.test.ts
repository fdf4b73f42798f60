/** How long a gateway is asked, with a kernel that is simulated as far as that goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POD_DEVICE } from '../testing/pod-device.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { HostNetwork } from './host-network.ts';
import { makeDevice, NOTHING_FOUND } from './pod-device.ts';
import type { Programs } from './programs.ts';

const GATEWAY = '10.16.0.1';
const OUTPUT: DeviceOutput = {
  ...POD_DEVICE,
  routes: [],
  gateways: [GATEWAY],
  needsGateways: true,
};
const PREPARED = { kind: 'present', mac: OUTPUT.mac, mtu: 1_400, up: false, addresses: [], routes: [] } as const;

/** A network whose gateway answers the n-th question. */
class Network {
  questions = 0;
  waited = 0;
  readonly lines: string[] = [];
  readonly #answersAt: number;

  constructor(answersAt: number) {
    this.#answersAt = answersAt;
  }

  readonly programs: Programs = {
    ...({} as Programs),
    sleep: (ms) => Promise.resolve(void (this.waited += ms)),
    converse: () => ({ ask: (lines) => Promise.resolve({ ok: true, output: this.#said(lines) }), end: () => undefined }),
  };

  #said(lines: readonly string[]): string {
    this.lines.push(...lines);
    if (lines.some((line) => line.startsWith(`neighbour replace ${GATEWAY}`) && line.endsWith('use'))) this.questions += 1;
    const neighbours = ['10.16.0.5', GATEWAY].map((dst) =>
      dst === GATEWAY && this.questions >= this.#answersAt
        ? { dst, lladdr: '0a:00:00:00:00:01', state: ['REACHABLE'] }
        : { dst, state: ['FAILED'] },
    );
    const link = { ifname: 'eth0', address: OUTPUT.mac, mtu: 1_400, flags: ['UP'], addr_info: [{ local: '10.16.0.5', prefixlen: 16 }] };
    const shown = (line: string): readonly unknown[] => {
      if (line.startsWith('neighbour show')) return [neighbours];
      return line.startsWith('address show') ? [[link]] : line.startsWith('route show') ? [[]] : [];
    };
    return lines
      .flatMap(shown)
      .map((list) => `${JSON.stringify(list)}\n`)
      .join('');
  }

  async make(isWanted = () => true): ReturnType<typeof makeDevice> {
    const hands = { programs: this.programs, host: new HostNetwork(this.programs), isWanted };
    return await makeDevice(hands, OUTPUT, PREPARED, { findings: NOTHING_FOUND, prepared: true });
  }
}

test('a gateway that answers late, as that of the first pod of a node, is asked quickly and often, and then the kernel has its own pace again', async () => {
  const network = new Network(20);
  const { findings } = await network.make();
  assert.deepEqual(findings, { duplicates: [], reached: [GATEWAY] });
  assert.ok(network.waited < 3_500, `${network.waited} ms`);
  assert.deepEqual(
    network.lines.filter((line) => line.startsWith('ntable')),
    ['ntable change name arp_cache dev eth0 retrans 40', 'ntable change name arp_cache dev eth0 retrans 1000'],
  );
});

test('a gateway that never answers ends the attempt after some seconds, and says what to do', async () => {
  const network = new Network(Infinity);
  await assert.rejects(network.make(), /gateway 10\.16\.0\.1 does not answer on eth0; disableGatewayCheck of the Subnet/);
  assert.ok(network.questions > 20 && network.waited < 6_000, `${network.questions} questions in ${network.waited} ms`);
  assert.match(network.lines.at(-1) ?? '', /retrans 1000$/);
});

test('a gateway is not asked on for a pod that is deleted meanwhile', async () => {
  const network = new Network(Infinity);
  const { findings } = await network.make(() => network.questions < 8);
  assert.deepEqual([findings.reached, network.questions], [[], 8]);
});
