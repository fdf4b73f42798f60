/** One process of the real node agent on a simulated node. */
import { type AgentSeams, NodeAgent } from '../../../src/agent/agent.ts';
import type { Programs, Watching } from '../../../src/agent/kernel/programs.ts';
import type { Ran } from '../../../src/agent/kernel/ran.ts';
import type { CniReply } from '../../../src/agent/requests/cni-server.ts';
import type { NodeSettings } from '../../../src/agent/rules/node-settings.ts';
import type { InProcessApi } from '../../../lab/apiserver/in-process.ts';
import { KubeClient } from '../../../src/kube/client/client.ts';
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { SimulatedServer } from '../../../src/ovsdb/testing/simulated/server.ts';
import type { Log } from '../../../src/runtime/log.ts';
import { type ApiFaults, ApiTransport } from '../cluster/api-transport.ts';
import type { Random } from '../cluster/random.ts';
import { ProcessClock, type VirtualTime } from '../cluster/virtual-time.ts';

export const SETTINGS = {
  node: 'n1',
  southbound: 'tcp:10.96.0.42:6642',
  tunnel: 'geneve',
  datapath: 'system',
  defaultVpc: 'ovn-cluster',
  mtu: 1400,
} as const satisfies NodeSettings;
export const AGENT = 'agent';

export interface SimulatedAgentOptions {
  readonly time: VirtualTime;
  readonly api: InProcessApi;
  readonly vswitch: SimulatedServer;
  readonly random: Random;
  readonly latency: () => number;
  readonly faults: ApiFaults;
  /** Changes what a list of the API server answers. */
  readonly listed: (request: KubeRequest, items: readonly unknown[]) => readonly unknown[];
  /** Runs a program of the node; it goes on if the agent dies. */
  readonly execute: (command: readonly string[], input: string) => Ran;
  /** Calls back with each change of the node's own network, as `ip monitor` prints it. @returns ends it */
  readonly monitor: (watching: Watching) => () => void;
  readonly rules: AgentSeams['rules'];
  readonly log: Log;
  readonly wrote: (what: string) => void;
}

class ShorteningTransport extends ApiTransport {
  readonly #listed: SimulatedAgentOptions['listed'];

  constructor(listed: SimulatedAgentOptions['listed'], options: ConstructorParameters<typeof ApiTransport>[0]) {
    super(options);
    this.#listed = listed;
  }

  override async request(request: KubeRequest): Promise<unknown> {
    const answer = (await super.request(request)) as { readonly items?: readonly unknown[] } | undefined;
    return answer?.items === undefined ? answer : { ...answer, items: this.#listed(request, answer.items) };
  }
}

export class SimulatedAgent {
  readonly agent: NodeAgent;
  readonly transport: ApiTransport;
  readonly #clock: ProcessClock;
  readonly #vswitch: SimulatedServer;
  readonly #died: Promise<undefined>;
  #die: () => void = () => undefined;
  #endMonitor: () => void = () => undefined;

  constructor({ time, api, vswitch, random, latency, faults, listed, execute, monitor, rules, log, wrote }: SimulatedAgentOptions) {
    const clock = new ProcessClock(time, AGENT);
    this.#clock = clock;
    this.#vswitch = vswitch;
    this.#died = new Promise((resolve) => (this.#die = () => resolve(undefined)));
    this.transport = new ShorteningTransport(listed, {
      api,
      clock,
      latency,
      faults,
      onRequest: ({ method, path }, status) => {
        if (method !== 'GET' && status < 300) wrote(`${method} ${path}`);
      },
    });
    const dial = vswitch.dialFor(AGENT);
    const line = { now: () => clock.now(), schedule: (ms: number, run: () => void) => clock.carry(ms, run) };
    const programs: Programs = {
      sleep: (ms) => new Promise((resolve) => void clock.carry(ms, resolve)),
      converse: (command) => ({ ask: (lines) => programs.run(command, `${lines.join('\n')}\n`), end: () => undefined }),
      watch: (_command, { line, warned, ended }) => {
        const later =
          (said: (text: string) => void) =>
          (text: string): void =>
            void clock.carry(latency(), () => said(text));
        return (this.#endMonitor = monitor({ line: later(line), warned: later(warned), ended: later(ended) }));
      },
      run: (command, input = '') =>
        new Promise((resolve) => {
          time.after(latency(), () => {
            const ran = execute(command, input);
            clock.carry(latency(), () => resolve(ran));
          });
        }),
    };
    this.agent = new NodeAgent({
      settings: SETTINGS,
      client: new KubeClient(this.transport),
      vswitch: 'unix:/run/openvswitch/db.sock',
      socket: '',
      programs,
      program: ['kiln'],
      clock,
      log,
      seams: {
        dial: (endpoint, tls, timeoutMs, _clock, ...rest) => dial(endpoint, tls, timeoutMs, line, ...rest),
        random: random.next,
        probeHost: { kubelet: () => Promise.resolve({ kind: 'class', id: 1 }), peers: () => Promise.resolve(new Map()) },
        defer: (turn) => void clock.carry(0, turn),
        rules,
      },
    });
    this.agent.observe();
  }

  /** @returns undefined: the process died before it answered */
  async ask(path: string, body: object, signal: AbortSignal): Promise<CniReply | undefined> {
    return await Promise.race([this.agent.server.reply(path, body, signal), this.#died]);
  }

  /** SIGKILL: nothing more runs, and its connections break. */
  kill(): void {
    this.#endMonitor();
    this.#clock.end();
    this.transport.abandon();
    this.#vswitch.disconnect(AGENT);
    this.#die();
  }
}
