/**
 * One life's whole node: time, the laboratory's API store, a simulated kernel and Open_vSwitch database, kubelet, and the agent under test.
 * The effects of the agent are simulated at its lowest seams, the call of a program and the connection to the database: so its diffs, the
 * commands that it makes and what it reads of their output are under test as well.
 */
import { readFileSync } from 'node:fs';
import type { AgentSeams } from '../../../src/agent/agent.ts';
import { InProcessApi } from '../../../lab/apiserver/in-process.ts';
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import { LabApi } from '../../../lab/apiserver/server.ts';
import { ApiError } from '../../../lab/apiserver/status.ts';
import { ObjectStore } from '../../../lab/apiserver/store.ts';
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { Uuid } from '../../../src/ovsdb/index.ts';
import { SimulatedServer } from '../../../src/ovsdb/testing/simulated/server.ts';
import type { Fields, Log } from '../../../src/runtime/log.ts';
import { ArmedFaults } from '../cluster/armed-faults.ts';
import { initialStore } from '../cluster/initial-store.ts';
import { Random } from '../cluster/random.ts';
import { EPOCH, VirtualTime } from '../cluster/virtual-time.ts';
import { type Hand, SimulatedKernel } from './kernel.ts';
import { type InterfaceName, Kubelet, type RunningPod, type Sandbox } from './kubelet.ts';
import { Monitor } from './monitor.ts';
import { OpenVswitch } from './open-vswitch.ts';
import { SimulatedPrograms } from './programs.ts';
import { AGENT, SimulatedAgent } from './simulated-agent.ts';

const schemaJson: unknown = JSON.parse(readFileSync('/usr/share/openvswitch/vswitch.ovsschema', 'utf8'));

/** The session waits for the former database to come back. */
const SPARED_MS = 60_000;

export interface NodeOptions {
  readonly seed: number;
  /** Called once for each process. */
  readonly rules: () => AgentSeams['rules'];
  readonly trace: (line: string) => void;
}

export class SimulatedNode {
  readonly time = new VirtualTime();
  readonly lab: LabApi;
  readonly api: InProcessApi;
  readonly kernel: SimulatedKernel;
  readonly programs: SimulatedPrograms;
  readonly vswitch: SimulatedServer;
  readonly switches: OpenVswitch;
  readonly kubelet: Kubelet;
  readonly faults = new ArmedFaults();
  readonly pods = new Map<string, RunningPod>();
  readonly random: Random;
  /** What was wrong when it happened. */
  readonly alarms: string[] = [];
  /** Writes of agents, as texts. */
  readonly writes: string[] = [];
  agent: SimulatedAgent | undefined;
  /** When it was started. */
  agentSince = 0;
  /** Requests of the plugin that are under way. */
  asking = 0;
  /** Until then the agent is not killed: what it knows of running pods is in its memory alone. */
  #spared = 0;
  /** Called after each change, with the hand that made it. */
  looked: (hand: Hand, what: string) => void = () => undefined;
  /** Called after each answer to a DEL. */
  removed: (sandbox: Sandbox, name: InterfaceName) => void = () => undefined;
  /** The API server answers nothing until then. */
  awayUntil = 0;
  /** Of the next list of this kind some items are missing, or all. */
  shortList: { readonly plural: string; readonly empty: boolean } | undefined;
  /** So many programs fail; `done`: after they took effect. */
  failing: { left: number; readonly done: boolean } = { left: 0, done: false };
  readonly #rows = new Map<Uuid, Hand>();
  readonly #monitor: Monitor;
  readonly #options: NodeOptions;
  #hand: Hand = 'node';
  /** Kinds with a list that was too short. */
  readonly #shortened = new Set<string>();
  #quietly = false;
  #up = true;
  #kill: { left: number; readonly restartMs: number } | undefined;

  constructor(options: NodeOptions) {
    this.#options = options;
    const { seed } = options;
    this.random = new Random(seed ^ 0x0de);
    this.#monitor = new Monitor(new Random(seed ^ 0x303));
    const uuids = new Random(seed ^ 0x1d);
    const { revision, objects } = initialStore();
    const store = new ObjectStore(2_000);
    store.restore(revision, objects);
    const after = (ms: number, run: () => void): (() => void) => {
      const entry = this.time.after(ms, run);
      return () => this.time.cancel(entry);
    };
    const environment = { now: () => EPOCH + this.time.now, uid: () => uuids.uuid(), suffix: () => uuids.uuid().slice(0, 5) };
    this.lab = new LabApi({ ...environment, schedule: (step) => void this.time.after(0, step), after }, store);
    this.api = new InProcessApi(this.lab);
    // Before there are switches to tell, it has the node's own device.
    let wake = (): void => undefined;
    this.kernel = new SimulatedKernel(() => wake());
    this.programs = new SimulatedPrograms(this.kernel);
    this.vswitch = new SimulatedServer({
      schemaJson,
      clock: { now: () => this.time.now, schedule: after },
      newUuid: () => uuids.uuid() as Uuid,
      latency: () => this.#latency(),
      fate: () => this.faults.transactionFate(),
      onTransaction: ({ differences, ok }, operations, client) => {
        const hand = client === AGENT ? 'agent' : this.#hand;
        for (const { uuid, before } of differences) if (before === undefined) this.#rows.set(uuid, hand);
        if (differences.length > 0) this.switches.wake();
        const what = `transaction ${ok ? '' : 'failed '}${JSON.stringify(operations)}`;
        this.changed(hand, what);
        if (client === AGENT && differences.length > 0) this.#wrote(what);
      },
    });
    this.switches = new OpenVswitch({
      server: this.vswitch,
      kernel: this.kernel,
      time: this.time,
      random: new Random(seed ^ 0x0f5),
      handOf: (uuid) => this.handOf(uuid),
      changed: () => this.changed('node', 'Open vSwitch'),
    });
    wake = () => this.switches.wake();
    this.kubelet = new Kubelet({
      time: this.time,
      kernel: this.kernel,
      random: new Random(seed ^ 0xc1),
      ask: async (path, body, signal) => await this.#ask(path, body, signal),
      alarm: (message) => void this.alarms.push(message),
      removed: (sandbox, name) => this.removed(sandbox, name),
      changed: () => this.changed('node', 'kubelet'),
    });
    this.byHand('node', () => this.vswitch.transact([{ op: 'insert', table: 'Open_vSwitch', row: {} }]));
  }

  handOf(uuid: Uuid): Hand {
    return this.#rows.get(uuid) ?? 'other';
  }

  /** What somebody else than the agent does. */
  byHand(hand: 'node' | 'other', act: () => void): void {
    const before = this.#hand;
    this.#hand = hand;
    act();
    this.#hand = before;
    this.changed(hand, 'by hand');
  }

  changed(hand: Hand, what: string): void {
    this.#monitor.tell(this.kernel, this.#quietly);
    this.looked(hand, what);
    this.#trace(hand, what);
  }

  /** Ends all faults, and makes everything as fast as possible. */
  set quietly(quietly: boolean) {
    this.#quietly = quietly;
    if (!quietly) return;
    this.faults.clear();
    this.failing = { left: 0, done: false };
    this.awayUntil = 0;
    this.shortList = undefined;
    this.#kill = undefined;
    this.vswitch.start();
    // A list that lacks something is right again with the next one only.
    for (const plural of this.#shortened) this.forgetHistory(plural);
    this.#shortened.clear();
  }

  /** The API server compacts the history of a kind, and something changed since the agent was told: it has to list again. */
  forgetHistory(plural: string): void {
    this.agent?.transport.breakWatches(plural);
    const definition = this.lab.registry.all().find((one) => one.plural === plural);
    const [object] = this.lab.store.list(definition?.table ?? '');
    if (definition === undefined || object === undefined) return;
    const { name, namespace = '' } = object.metadata;
    const annotations = { 'example.com/touched': object.metadata.resourceVersion ?? '' };
    this.lab.operations.update(definition, namespace, name, (current) => merged(current, { metadata: { annotations } }));
    this.lab.store.forgetHistory(definition.table);
  }

  startAgent(): void {
    if (this.agent !== undefined || !this.#up) return;
    this.agentSince = this.time.now;
    this.agent = new SimulatedAgent({
      time: this.time,
      api: this.api,
      vswitch: this.vswitch,
      random: new Random(this.random.below(2 ** 31)),
      latency: () => this.#latency(),
      faults: {
        fate: (request) => (this.time.now < this.awayUntil ? { kind: 'reject', status: 503 } : this.faults.fate(request)),
        watchDelay: (plural) => this.faults.watchDelay(plural),
        repeats: (plural) => this.faults.repeats(plural),
      },
      listed: (request, items) => this.#listed(request, items),
      execute: (command, input) => this.#execute(command, input),
      monitor: (watching) => this.#monitor.watch(watching),
      rules: this.#options.rules(),
      log: this.#log(),
      wrote: (what) => this.#wrote(what),
    });
  }

  killAgent(restartMs: number): void {
    this.#options.trace(`${this.time.now.toFixed(3)} kill`);
    this.agent?.kill();
    this.agent = undefined;
    this.time.after(restartMs, () => this.startAgent());
  }

  /** Right after so many more writes took effect. */
  killAfterWrites(writes: number, restartMs: number): void {
    if (this.time.now < this.#spared) return;
    this.#kill = { left: writes, restartMs };
  }

  /** The Open_vSwitch database is replaced by an empty one, while the agent runs. */
  replaceDatabase(): void {
    if (this.agent === undefined) return;
    this.#kill = undefined;
    this.#spared = this.time.now + SPARED_MS;
    this.byHand('other', () =>
      this.vswitch.transact([
        { op: 'delete', table: 'Open_vSwitch', where: [] },
        { op: 'insert', table: 'Open_vSwitch', row: {} },
      ]),
    );
  }

  /** The node's memory is lost; the Open_vSwitch database is a file. */
  reboot(downMs: number, removedFirst: boolean): void {
    if (!this.#up) return;
    this.#up = false;
    this.agent?.kill();
    this.agent = undefined;
    const dead = this.kubelet.reboot();
    this.switches.stop();
    this.byHand('node', () => this.kernel.reboot());
    this.time.after(downMs, () => {
      this.#up = true;
      this.kubelet.isDown = false;
      this.byHand('node', () => this.switches.start());
      this.startAgent();
      const starting = [...this.pods.values()].filter(({ wanted }) => wanted);
      const started = removedFirst ? [] : starting.map((pod) => this.kubelet.start(pod));
      void Promise.all([...started, ...dead.map((sandbox) => this.kubelet.stop(sandbox))]).then(() => {
        if (removedFirst) for (const pod of starting) void this.kubelet.start(pod);
      });
    });
  }

  /** @param path as in the simulator's steps: `v1/pods`. @returns the error's text, or nothing */
  request(path: string, verb: 'create' | 'patch' | 'delete', namespace: string, object: NamedObject): string | undefined {
    const parts = path.split('/');
    const [plural = '', version = ''] = [parts.pop(), parts.pop()];
    const definition = this.lab.registry.find(parts.join('/'), version, plural);
    if (definition === undefined) throw new RangeError(`no resource ${path}`);
    const { operations } = this.lab;
    const { name } = object.metadata;
    try {
      if (verb === 'create') operations.create(definition, namespace, object);
      else if (verb === 'delete') operations.delete(definition, namespace, name, { gracePeriodSeconds: 0 });
      else operations.update(definition, namespace, name, (current) => merged(current, object));
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  #trace(hand: Hand, what: string): void {
    this.#options.trace(`${this.time.now.toFixed(3)} ${hand} ${what}`);
  }

  #execute(command: readonly string[], input: string): ReturnType<SimulatedPrograms['run']> {
    const fails = this.failing.left > 0;
    if (fails) this.failing.left--;
    if (!this.#up || (fails && !this.failing.done)) return { ok: false, message: 'Cannot allocate memory' };
    const ran = this.programs.run(command, input, 'agent');
    const what = `${command.join(' ')}${input === '' ? '' : ` < ${JSON.stringify(input)}`}${ran.ok ? '' : `: ${ran.message}`}`;
    // What was only read changed nothing.
    if (isReading(command, input)) this.#trace('agent', what);
    else {
      this.changed('agent', what);
      this.#wrote(what);
    }
    return fails ? { ok: false, message: 'Killed' } : ran;
  }

  async #ask(...[path, body, signal]: Parameters<SimulatedAgent['ask']>): Promise<Awaited<ReturnType<SimulatedAgent['ask']>>> {
    this.asking++;
    await this.#sleep(this.#latency());
    const reply = signal.aborted ? undefined : await this.agent?.ask(path, body, signal);
    this.asking--;
    return reply;
  }

  #listed({ path }: KubeRequest, items: readonly unknown[]): readonly unknown[] {
    const { shortList } = this;
    if (shortList === undefined || !path.includes(`/${shortList.plural}?`)) return items;
    this.shortList = undefined;
    this.#shortened.add(shortList.plural);
    return shortList.empty ? [] : items.filter(() => this.random.chance(0.5));
  }

  #wrote(what: string): void {
    this.writes.push(what);
    if (this.#kill === undefined || this.#kill.left-- > 0 || this.agent === undefined) return;
    const { restartMs } = this.#kill;
    this.#kill = undefined;
    this.killAgent(restartMs);
  }

  #latency(): number {
    return this.#quietly ? 0.1 : 0.2 + this.random.next() * 3;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.time.after(ms, resolve));
  }

  #log(): Log {
    const write = (level: string, message: string, fields: Fields = {}): void => {
      const line = `${level} ${message} ${JSON.stringify(fields)}`;
      this.#options.trace(`${this.time.now.toFixed(3)} ${line}`);
      if (level === 'error') this.alarms.push(line);
    };
    const at = (level: string) => (message: string, fields?: Fields) => write(level, message, fields);
    return { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
  }
}

function isReading(command: readonly string[], input: string): boolean {
  const lines = input.split('\n').filter((line) => line !== '');
  return (lines.length > 0 ? lines : [command.join(' ')]).every((line) => / show\b| list\b|sysctl -n/.test(line));
}

/** An object, or a patch of one. */
export type NamedObject = JsonObject & { readonly metadata: JsonObject & { readonly name: string } };

/** A merge patch of metadata and spec. */
function merged<T extends object>(current: T, patch: object): T {
  const next: Record<string, unknown> = Object.fromEntries(Object.entries(current));
  for (const [key, value] of Object.entries(patch)) {
    const before = next[key];
    if (value === null) delete next[key];
    else next[key] = isPlain(value) ? merged(isPlain(before) ? before : {}, value) : value;
  }
  return next as T;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
