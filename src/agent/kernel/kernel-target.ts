/**
 * The kernel of the node as a target: devices of pods. The kernel tells nothing by itself here, so a device is read before the first write
 * and again after each, and all links are listed from time to time.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../target/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { type DeviceName, RESTORED } from '../world/attachment.ts';
import { equal } from '../../world/equal.ts';
import type { NodeWorld, ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput, DevicePartOutput, LinkOutput } from '../world/outputs.ts';
import type { Retries } from '../retries.ts';
import { linkCommands, removalCommand } from './ip-commands.ts';
import { observeDevice, observeLink, observeLinks } from './ip-observation.ts';
import { type Findings, makeDevice, NOTHING_FOUND } from './pod-device.ts';
import { attachmentOf } from './link-alias.ts';
import type { Programs } from './programs.ts';

/** Another program removed a link: it is noticed after this time. */
const LIST_MS = 5_000;
/** Programs that run at once: each costs a process. */
const MOST_AT_ONCE = 8;

export interface KernelTargetOptions {
  readonly world: NodeWorld;
  readonly programs: Programs;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
  /** Called once the attachments from before this process are in the World. */
  readonly restored?: () => void;
}

export class KernelTarget implements Target {
  readonly name = 'the kernel';
  readonly desired = new KeyedOutputs<DevicePartOutput, DeviceName>(['device', 'link', 'retained-device'], ({ name }) => name);
  readonly #options: KernelTargetOptions;
  /** Devices with a program under way. */
  readonly #working = new Set<DeviceName>();
  /** What pods' networks answered. */
  readonly #findings = new Map<DeviceName, Findings>();
  #links: ReadonlyMap<string, string> | undefined;
  #timer: TimerHandle;
  #stopped = false;

  constructor(options: KernelTargetOptions) {
    this.#options = options;
  }

  get observed(): boolean {
    return this.#links !== undefined;
  }

  get busy(): boolean {
    return false;
  }

  get quiet(): boolean {
    return this.desired.due.size === 0 && this.#working.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  isWriting(device: DeviceName): boolean {
    return this.#working.has(device);
  }

  start(): void {
    void this.#list();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    while (this.#working.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  examineAll(): void {
    for (const name of this.desired.ids) this.desired.due.add(name);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (name) => ({ name, desired: this.desired.of(name) }));
  }

  flush(): boolean {
    for (const name of this.desired.due) {
      if (this.#working.size >= MOST_AT_ONCE || this.#stopped) break;
      if (this.#working.has(name) || this.#options.retries.mustWait(`device ${name}`)) continue;
      this.desired.due.delete(name);
      void this.#work(name);
    }
    return true;
  }

  async #work(name: DeviceName): Promise<void> {
    const { retries, log, wake } = this.#options;
    this.#working.add(name);
    const id = `device ${name}`;
    try {
      const [output] = this.desired.of(name);
      if (output === undefined) await this.#remove(name);
      else if (output.kind === 'retained-device') await this.#read(output);
      else await this.#make(output);
      retries.succeeded(id);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn('a device could not be changed; it will be tried again', { device: name, reason });
      this.desired.due.add(name);
      retries.failed(id, `device ${name}: ${reason}`);
    }
    this.#working.delete(name);
    wake();
  }

  /** Reads, writes what differs, and reads again. @throws Error with the reason of the program that failed */
  async #make(output: DeviceOutput | LinkOutput): Promise<void> {
    const { programs } = this.#options;
    const observed = await this.#read(output);
    if (observed.kind === 'no-namespace') return;
    if (output.kind === 'device') {
      // One end may be left of an earlier attempt.
      if (observed.kind === 'absent') await this.#delete(output.name);
      const found = await makeDevice(programs, output, observed, this.#findings.get(output.name) ?? NOTHING_FOUND);
      this.#findings.set(output.name, found);
    } else {
      // Open vSwitch makes it.
      const commands = observed.kind === 'present' ? linkCommands(output, observed) : [];
      if (commands.length === 0) return;
      for (const { command, input } of commands) {
        const ran = await programs.run(command, input);
        if (!ran.ok) throw new Error(`${command.join(' ')}: ${ran.message}`);
      }
    }
    await this.#read(output);
  }

  async #read(output: DevicePartOutput): Promise<ObservedDevice> {
    const { world, programs } = this.#options;
    const { name } = output;
    const shown =
      output.kind === 'link'
        ? await observeLink(programs, name)
        : await observeDevice(programs, name, output.namespacePath, output.innerName);
    const observed = shown.kind === 'present' && output.kind !== 'link' ? { ...shown, ...this.#findings.get(name) } : shown;
    if (shown.kind !== 'present') this.#findings.delete(name);
    const before = world.devices.peek(name);
    if (before === undefined || !equal(before, observed)) world.devices.set(name, observed);
    return observed;
  }

  async #remove(name: DeviceName): Promise<void> {
    await this.#delete(name);
    this.#findings.delete(name);
    this.#options.world.devices.delete(name);
  }

  /** Only a link with our alias, or none. */
  async #delete(name: DeviceName): Promise<void> {
    const { programs } = this.#options;
    if (!(await observeLinks(programs)).ours.has(name)) return;
    const { command } = removalCommand(name);
    const ran = await programs.run(command);
    if (!ran.ok && !/Cannot find device|does not exist/.test(ran.message)) throw new Error(`${command.join(' ')}: ${ran.message}`);
  }

  /** Those whose port was lost while no agent ran. */
  #restore(links: ReadonlyMap<string, string>): void {
    const { world, restored } = this.#options;
    for (const alias of links.values()) {
      const attachment = attachmentOf(alias);
      if (attachment !== undefined && world.attachments.peek(attachment.key) === undefined)
        world.attachments.set(attachment.key, { ...attachment, order: RESTORED.withLinkAlone });
    }
    restored?.();
  }

  /**
   * Lists our links: those that vanished are due. One that no rule knows stays: it exists only as long as the pod's namespace does, and the
   * Open_vSwitch database, which has the attachments, may have been replaced.
   */
  async #list(): Promise<void> {
    const { programs, clock, log, wake, world } = this.#options;
    try {
      const { ours: links, addressed } = await observeLinks(programs);
      for (const [address] of [...world.hostAddresses.entries()]) if (!addressed.has(address)) world.hostAddresses.delete(address);
      for (const [address, device] of addressed)
        if (!equal(world.hostAddresses.peek(address), device)) world.hostAddresses.set(address, device);
      for (const [name, device] of [...world.devices.entries()]) {
        const [output] = this.desired.of(name as DeviceName);
        // Of the node's own devices every part may be changed by others, and they are few.
        if (output?.kind !== 'link') {
          if (device.kind === 'present' ? links.has(name) : device.kind === 'absent') continue;
          if (device.kind === 'present') world.devices.set(name, { kind: 'absent' });
        }
        if (output !== undefined) this.desired.due.add(name as DeviceName);
      }
      const isFirst = this.#links === undefined;
      this.#links = links;
      if (isFirst) this.#restore(links);
    } catch (error) {
      log.warn('the links of this node could not be listed', { reason: String(error) });
    }
    if (this.#stopped) return;
    this.#timer = clock.setTimeout(() => void this.#list(), LIST_MS);
    wake();
  }
}
