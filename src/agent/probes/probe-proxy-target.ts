/**
 * Listeners for kubelet's probes as a target: one for each address and port that probes of pods ask for. The World has those that listen; the
 * rules lead kubelet's connections to them.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Retries } from '../retries.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { ProbedPodOutput, UnprobedPodOutput } from '../world/outputs.ts';
import { KUBELET, type KubeletMark, type TcpProbe, unprobedText } from '../world/probe.ts';
import { equal } from '../../engine/equal.ts';
import { checkCommand, CONNECTOR, connectToPod, hostCheckCommand } from './pod-connection.ts';
import type { ProbeHost } from './probe-host.ts';
import { ProbeListenerServer } from './probe-listener.ts';

/** Between two looks at kubelet's process: once it was started anew its cgroup is another one. */
const KUBELET_MS = 5_000;
/** Between two looks at what the node itself talks to, and at who else has an address. */
const HOSTS_MS = 60_000;

export interface ProbeProxyTargetOptions {
  readonly world: NodeWorld;
  readonly programs: Programs;
  readonly host: ProbeHost;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

interface Listening {
  readonly server: ProbeListenerServer;
  local: number;
  open: boolean;
  checking: boolean;
  timer: TimerHandle;
  /** Whether another host answers for the address and port; undefined until it was tried. */
  elsewhere: boolean | undefined;
  hostTimer: TimerHandle;
}

export class ProbeProxyTarget implements Target {
  readonly name = "kubelet's probes";
  readonly busy = false;
  readonly observed = true;
  readonly waitingFor = [];
  readonly desired = new KeyedOutputs<ProbedPodOutput | UnprobedPodOutput>(['probed-pod', 'unprobed-pod'], idOf);
  readonly #options: ProbeProxyTargetOptions;
  readonly #listening = new Map<string, Listening>();
  #stopped = false;
  /** The program that connects was seen to run, or is looked for. */
  #hasProgram = false;
  /** What the node talks to was read. */
  #knowsHosts = false;
  #looking: Promise<void> | undefined;
  #lookTimer: TimerHandle;
  /** Of the next look at what the node talks to. */
  #hostsDue = 0;

  constructor(options: ProbeProxyTargetOptions) {
    this.#options = options;
  }

  get quiet(): boolean {
    return this.desired.due.size === 0;
  }

  start(): void {
    // It observes nothing but itself.
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#lookTimer);
    await this.#looking;
    await Promise.all([...this.#listening.keys()].map((id) => this.#close(id)));
  }

  examineAll(): void {
    for (const id of this.desired.ids) this.desired.due.add(id);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (id) => ({ id, pods: this.desired.of(id) }));
  }

  flush(): boolean {
    for (const id of this.desired.due) {
      if (this.#stopped || this.#options.retries.mustWait(id)) continue;
      this.desired.due.delete(id);
      const outputs = this.desired.of(id);
      this.#report(id, outputs);
      const pods = outputs.filter((output) => output.kind === 'probed-pod');
      if (pods.length === 0) void this.#close(id);
      else this.#serve(id, pods);
    }
    this.#look();
    return true;
  }

  /** While pods are probed. */
  #look(): void {
    const { clock, world } = this.#options;
    if (this.#stopped || this.#looking !== undefined || this.#lookTimer !== undefined) return;
    if (this.desired.ids.next().done === true) return world.failures.delete(KUBELET);
    this.#looking = this.#readHost().then(() => {
      this.#looking = undefined;
      if (this.#stopped) return;
      this.#lookTimer = clock.setTimeout(() => {
        this.#lookTimer = undefined;
        this.#look();
      }, KUBELET_MS);
    });
  }

  async #readHost(): Promise<void> {
    const { clock, host, log, wake, world } = this.#options;
    try {
      const mark = await host.kubelet();
      if (!equal(world.kubelet.peek(KUBELET), mark)) world.kubelet.set(KUBELET, mark);
      this.#tellKubelet(mark);
      if (this.#knowsHosts && clock.now() < this.#hostsDue) return;
      const outputs = Array.from(this.desired.ids, (id) => this.desired.of(id)).flat();
      const registries = outputs.flatMap((output) => (output.kind === 'probed-pod' ? output.registries : []));
      const peers = await host.peers([...new Set(registries)]);
      this.#hostsDue = clock.now() + HOSTS_MS;
      for (const address of [...world.hostPeers.keys()]) if (!peers.has(address)) world.hostPeers.delete(address);
      for (const [address, what] of peers) if (world.hostPeers.peek(address) !== what) world.hostPeers.set(address, what);
      if (!this.#knowsHosts) {
        this.#knowsHosts = true;
        for (const id of this.#listening.keys()) this.#publish(id);
      }
      wake();
    } catch (error) {
      log.warn('what the node talks to could not be read', { reason: String(error) });
    }
  }

  #tellKubelet(mark: KubeletMark): void {
    const { world, log } = this.#options;
    const reason = mark.kind === 'none' ? `probes of pods in custom Vpcs are led to nobody: ${mark.reason}` : undefined;
    if (world.failures.peek(KUBELET) === reason) return;
    if (reason === undefined) return world.failures.delete(KUBELET);
    log.warn('pods of custom Vpcs cannot be probed', { reason });
    world.failures.set(KUBELET, reason);
  }

  /** What cannot be probed is among the failures that `kiln agent status` shows. */
  #report(id: string, outputs: readonly (ProbedPodOutput | UnprobedPodOutput)[]): void {
    const { world, log } = this.#options;
    const reason = this.#listening.get(id)?.elsewhere === true ? elsewhereReason(outputs) : unprobedReason(outputs);
    if (reason === world.failures.peek(id)) return;
    if (reason === undefined) world.failures.delete(id);
    else {
      log.warn('a pod cannot be probed', { reason });
      world.failures.set(id, reason);
    }
  }

  #serve(id: string, pods: readonly ProbedPodOutput[]): void {
    const present = this.#listening.get(id);
    const [first] = pods;
    if (present !== undefined) {
      present.server.pods = pods;
      this.#check(id);
    } else if (first !== undefined) {
      const server = new ProbeListenerServer(first.address, connectToPod);
      server.pods = pods;
      // A port that has to be looked at is closed until it was.
      const open = tcpProbesOf(pods).length === 0;
      this.#listening.set(id, { server, local: 0, open, checking: false, timer: undefined, elsewhere: undefined, hostTimer: undefined });
      void this.#listen(id, server);
    }
  }

  async #listen(id: string, server: ProbeListenerServer): Promise<void> {
    const { retries, log, wake } = this.#options;
    try {
      const local = await server.listen();
      const listening = this.#listening.get(id);
      // Nobody wants it any more.
      if (listening?.server !== server) return await server.close();
      listening.local = local;
      retries.succeeded(id);
      void this.#checkHost(id, listening);
      this.#check(id);
      void this.#lookForProgram();
    } catch (error) {
      log.warn('a listener for probes could not be made; it will be tried again', { of: id, reason: String(error) });
      this.#listening.delete(id);
      this.desired.due.add(id);
      retries.failed(id, String(error));
      wake();
    }
  }

  /** Without it every probe fails, and kubelet would start the pods again and again with no word of the reason. */
  async #lookForProgram(): Promise<void> {
    if (this.#hasProgram) return;
    this.#hasProgram = true;
    const { programs, world, log } = this.#options;
    const ran = await programs.run([CONNECTOR, '-V']);
    const id = `program ${CONNECTOR}`;
    if (ran.ok) return world.failures.delete(id);
    this.#hasProgram = false;
    const reason = `kubelet cannot probe pods of custom Vpcs: ${CONNECTOR} does not run on this node (${ran.message}); install package ${CONNECTOR} where the agent runs`;
    if (world.failures.peek(id) === reason) return;
    log.warn('pods of custom Vpcs cannot be probed', { reason });
    world.failures.set(id, reason);
  }

  /** Whether the node reaches another host by the address and port: the agent's own connections are never led. */
  async #checkHost(id: string, listening: Listening): Promise<void> {
    const { clock, programs } = this.#options;
    const [pod] = this.desired.of(id);
    if (pod?.kind !== 'probed-pod') return;
    const { ok } = await programs.run(hostCheckCommand(pod));
    if (this.#listening.get(id) !== listening || this.#stopped) return;
    listening.elsewhere = ok;
    this.#report(id, this.desired.of(id));
    this.#publish(id);
    listening.hostTimer = clock.setTimeout(() => void this.#checkHost(id, listening), HOSTS_MS);
  }

  #publish(id: string): void {
    const [pod] = this.desired.of(id);
    const listening = this.#listening.get(id);
    if (pod?.kind !== 'probed-pod' || listening === undefined || listening.local === 0) return;
    if (!this.#knowsHosts || listening.elsewhere === undefined) return;
    if (listening.elsewhere) {
      if (this.#options.world.probeListeners.peek(id) !== undefined) this.#options.world.probeListeners.delete(id);
      return this.#options.wake();
    }
    const { address, port } = pod;
    this.#options.world.probeListeners.set(id, { address, port, local: listening.local, open: listening.open });
    this.#options.wake();
  }

  async #close(id: string): Promise<void> {
    const listening = this.#listening.get(id);
    if (listening === undefined) return;
    this.#options.clock.clearTimeout(listening.timer);
    this.#options.clock.clearTimeout(listening.hostTimer);
    this.#listening.delete(id);
    // The rules lead no probe there any more, before long.
    this.#options.world.probeListeners.delete(id);
    if (listening.local !== 0) await listening.server.close();
  }

  /** For a probe that only connects: whether any of the pods has the port open. One that has not must not make another one fail. */
  #check(id: string): void {
    const listening = this.#listening.get(id);
    const pods = this.desired.of(id).filter((output) => output.kind === 'probed-pod');
    const probes = tcpProbesOf(pods);
    if (listening === undefined || listening.checking || listening.local === 0 || this.#stopped) return;
    const { clock, programs } = this.#options;
    clock.clearTimeout(listening.timer);
    if (probes.length === 0) return this.#setOpen(id, listening, true);
    const asked = pods.filter((pod) => tcpProbesOf([pod]).length > 0);
    listening.checking = true;
    void Promise.all(asked.map((pod) => programs.run(checkCommand(pod)))).then((ran) => {
      listening.checking = false;
      if (this.#listening.get(id) !== listening) return;
      this.#setOpen(
        id,
        listening,
        ran.some(({ ok }) => ok),
      );
      listening.timer = clock.setTimeout(() => this.#check(id), Math.min(...probes.map(({ periodMs }) => periodMs)));
    });
  }

  #setOpen(id: string, listening: Listening, open: boolean): void {
    if (listening.open === open) return;
    listening.open = open;
    this.#publish(id);
  }
}

function unprobedReason(outputs: readonly (ProbedPodOutput | UnprobedPodOutput)[]): string | undefined {
  const found = outputs.find((output) => output.kind === 'unprobed-pod');
  return found && unprobedText(found);
}

function elsewhereReason(outputs: readonly (ProbedPodOutput | UnprobedPodOutput)[]): string | undefined {
  const found = outputs.find((output) => output.kind === 'probed-pod');
  return found && unprobedText({ ...found, owner: `use by another host, which the node reaches at port ${found.port},` });
}

function tcpProbesOf(pods: readonly ProbedPodOutput[]): readonly TcpProbe[] {
  return pods.flatMap(({ probes }) => probes.filter((probe) => probe.kind === 'tcp'));
}

function idOf(output: ProbedPodOutput | UnprobedPodOutput): string {
  return output.kind === 'probed-pod' ? `probes ${output.address} ${output.port}` : `probes of ${output.pod} ${output.address}`;
}
