/**
 * The kernel of the node as a target: devices of pods. A device is read before the first write and again after each; what the node itself has is
 * listed when something changed. The file is long since the look at a device, its writes and the listing share what was read of it.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { Listing } from '../listing/changes.ts';
import type { KernelChange } from '../listing/kernel-change.ts';
import type { ListedTargetOptions } from '../listing/listed-target.ts';
import { type DeviceName, RESTORED, unusualDevice } from '../world/attachment.ts';
import { equal } from '../../engine/equal.ts';
import type { NodeWorld, ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput, DevicePartOutput, LinkOutput } from '../world/outputs.ts';
import { INSTALLED } from '../world/port-keys.ts';
import type { HostNetwork, HostState } from './host-network.ts';
import { sysctlName } from './neighbours.ts';
import type { Programs } from './programs.ts';
import { forwardingKeys, linkChange, removalLine } from './ip-commands.ts';
import { endDeadConnections } from './dead-connections.ts';
import { deviceDifferences, differencesText } from './device-differences.ts';
import { DeviceWatch } from './device-watch.ts';
import { advertisedDevices, forwards, givenDevice, nodeDevice, observeInnerEnd, ourLinks, podDevice } from './ip-observation.ts';
import { type Findings, isComplete, makeDevice, NOTHING_FOUND, shownDevice } from './pod-device.ts';
import { GivenDevices, passingLines } from './given-devices.ts';
import { attachmentOf } from './link-alias.ts';
import { loudEnds, quietKey, quietLine } from './quiet-ends.ts';
import { waitingText } from '../world/waiting-route.ts';

/** Looks until a device is lost, some seconds in all: Open vSwitch that starts anew makes it again. */
const LOOKS = 5;
/** Until devices that could not be made silent are tried again. */
const QUIET_AGAIN_MS = 1_000;
/** Devices that are changed at once: most of the time they wait for answers of other hosts. */
const MOST_AT_ONCE = 64;

export interface KernelTargetOptions extends ListedTargetOptions {
  readonly world: NodeWorld;
  readonly host: HostNetwork;
  /** For what is removed, which takes the kernel long: what is made does not wait for it. */
  readonly removals: HostNetwork;
  readonly clock: Clock;
  /** Called once the attachments from before this process are in the World. */
  readonly restored?: () => void;
}

export class KernelTarget implements Target {
  readonly name = 'the kernel';
  readonly busy = false;
  readonly desired = new KeyedOutputs<DevicePartOutput, DeviceName>(['device', 'link', 'retained-device'], ({ name }) => name);
  readonly #options: KernelTargetOptions;
  readonly #listing: Listing = {
    list: (isTold) => this.#list(isTold),
    concerns: (change) => this.#concerns(change),
    inside: (change) => this.#watch.inside(change),
    missed: () => this.#watch.missed(),
  };
  readonly #watch: DeviceWatch;
  /** Devices with a program under way. */
  readonly #working = new Map<DeviceName, Promise<unknown>>();
  /** What pods' networks answered. */
  readonly #findings = new Map<DeviceName, Findings>();
  /** Addresses that devices of pods have, or had when they were seen last. */
  readonly #addresses = new Map<DeviceName, readonly string[]>();
  readonly #given = new GivenDevices();
  /** Pairs that this process made, while their ports pass no packets yet. */
  readonly #prepared = new Set<DeviceName>();
  /** Devices that Open vSwitch should have made, and that were not there in so many looks. */
  readonly #missing = new Map<DeviceName, number>();
  /** Destinations of routes that wait for those of other programs, by device. */
  readonly #waiting = new Map<DeviceName, readonly string[]>();
  /** Whether the node forwards packets, by the keys that say it, while nothing told of a change. */
  readonly #forwards = new Map<string, boolean>();
  #links: ReadonlyMap<string, string> | undefined;
  #quietTimer: TimerHandle;
  #stopped = false;

  constructor(options: KernelTargetOptions) {
    this.#options = options;
    this.#watch = new DeviceWatch({ ...options, desired: this.desired });
  }

  get observed(): boolean {
    return this.#links !== undefined;
  }

  get quiet(): boolean {
    return this.desired.due.size === 0 && this.#working.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  /** Also while a removal is due that failed: the link of a program that was killed may be there, though no look has shown it. */
  isWriting(device: DeviceName): boolean {
    return this.#working.has(device) || (this.desired.due.has(device) && this.desired.of(device).length === 0);
  }

  start(): void {
    this.#options.changes.add(this.#listing);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#quietTimer);
    this.#watch.stop();
    await this.#options.changes.remove(this.#listing);
    await Promise.all(this.#working.values());
  }

  examineAll(): void {
    for (const name of this.desired.ids) this.desired.due.add(name);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (name) => ({ name, desired: this.desired.of(name) }));
  }

  flush(): boolean {
    for (const name of this.#inOrder()) {
      if (this.#working.size >= MOST_AT_ONCE || this.#stopped) break;
      if (this.#working.has(name) || this.#options.retries.mustWait(`device ${name}`)) continue;
      this.desired.due.delete(name);
      this.#working.set(name, this.#work(name));
    }
    return true;
  }

  /** What only is read comes last: after a start of the node that may be hundreds of devices, and an ADD does not wait for them. */
  #inOrder(): Iterable<DeviceName> {
    const { due } = this.desired;
    if (due.size <= MOST_AT_ONCE) return due;
    const isOnlyRead = (name: DeviceName): boolean => this.desired.of(name)[0]?.kind === 'retained-device';
    return [...due].toSorted((one, other) => Number(isOnlyRead(one)) - Number(isOnlyRead(other)));
  }

  #concerns({ part, text, ofPod }: KernelChange): boolean {
    switch (part) {
      case 'LINK':
        return true;
      case 'NETCONF':
        if (!/^inet6? all forwarding/.test(text)) return false;
        this.#forwards.clear();
        return true;
      default:
        return part !== 'RULE' && !ofPod;
    }
  }

  /**
   * A device of a pod as it is now; what differs is due. Undefined for one that no rule knows, that is only read, or that is a virtual machine's.
   * @throws Error with the reason if the kernel cannot be asked
   */
  async look(name: DeviceName): Promise<{ readonly output: DeviceOutput; readonly observed: ObservedDevice } | undefined> {
    // Not in the middle of a write.
    for (let working = this.#working.get(name); working !== undefined; working = this.#working.get(name)) await working;
    const [output] = this.desired.of(name);
    if (output?.kind !== 'device' || output.ofMachine === true || this.#stopped) return undefined;
    const seen = this.#options.world.devices.peek(name);
    const reading = this.#read(output);
    const ended = reading.catch(() => undefined);
    this.#working.set(name, ended);
    try {
      const observed = await reading;
      this.#tell(output, seen, observed);
      if (deviceDifferences(output, observed).length > 0) this.desired.due.add(name);
      return { output, observed };
    } finally {
      this.#working.delete(name);
      this.#options.wake();
    }
  }

  async #work(name: DeviceName): Promise<void> {
    const { retries, log, wake } = this.#options;
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

  /** Writes what differs from what was read, and reads again. @throws Error with the reason of the program that failed */
  async #make(output: DeviceOutput | LinkOutput): Promise<void> {
    if (output.kind === 'link') await this.#makeLink(output);
    else
      try {
        await this.#makeDevice(output);
      } catch (error) {
        this.#prepared.delete(output.name);
        // Its namespace may have gone meanwhile: then there is nothing to try again.
        if ((await this.#read(output)).kind !== 'no-namespace') throw error;
      }
  }

  async #makeDevice(output: DeviceOutput): Promise<void> {
    const { programs, host, world } = this.#options;
    const { name } = output;
    const seen = world.devices.peek(name);
    const isFound = this.#links?.has(name) === true;
    if (isFound) this.#given.find(output);
    let observed = await this.#before(output);
    if (isFound && seen === undefined && observed.kind === 'present' && !observed.up && this.#given.has(name)) {
      this.#given.make(name);
      observed = await this.#read(output);
    }
    if (observed.kind === 'present' && this.#given.has(name)) return await this.#keepPassing(output);
    this.#tell(output, seen, observed);
    if (observed.kind === 'no-namespace') return;
    if (observed.kind === 'absent') {
      this.#refuseWithFormerPort(name);
      // It is not absent any more: Open vSwitch may open it before it is read, and its port would be removed.
      if (world.devices.peek(name) !== undefined) world.devices.delete(name);
      this.#given.make(name);
      // One end may be left of an earlier attempt.
      if (ourLinks(host.latest).has(name)) await this.#delete(name);
    }
    const known = { findings: this.#findings.get(name) ?? NOTHING_FOUND, prepared: this.#prepared.has(name) };
    const hands = { programs, host, isWanted: (): boolean => this.desired.of(name).length > 0 };
    const { findings, inner } = await makeDevice(hands, output, observed, known);
    this.#findings.set(name, findings);
    // Once it is complete it is read before it is changed.
    if (output.connected) this.#prepared.delete(name);
    else this.#prepared.add(name);
    const shown = shownDevice(output, inner, world.devices.peek(name) ?? observed, host.latest);
    this.#take(name, shown.kind === 'present' ? { ...shown, ...findings } : shown);
    if (inner !== undefined && output.connected && findings.duplicates.length === 0 && !isComplete(output, shown))
      throw new Error('it is not as it was written: another program changes it');
    if (shown.kind === 'present' && (shown.tentative ?? []).length === 0 && isComplete(output, shown)) this.#given.complete(output);
  }

  async #keepPassing(output: DeviceOutput): Promise<void> {
    const lines = passingLines(output, this.#options.host.latest);
    if (lines.length === 0) return;
    await this.#options.host.write(lines);
    await this.#read(output);
  }

  /** What was as it should be when it was seen last, and is not now. */
  #tell(output: DeviceOutput, seen: ObservedDevice | undefined, observed: ObservedDevice): void {
    if (seen?.kind !== 'present' || observed.kind !== 'present' || deviceDifferences(output, seen).length > 0) return;
    const differing = deviceDifferences(output, observed);
    if (differing.length > 0)
      this.#options.log.warn('another program changed the interface of a pod; it is set again', {
        device: output.name,
        attachment: output.attachment,
        found: differencesText(differing),
      });
  }

  /** The rules take the port of a device away that vanished. @throws Error until it is gone */
  #refuseWithFormerPort(name: DeviceName): void {
    const { world } = this.#options;
    const port = world.ports.peek(name);
    // That of a request is often there before its device.
    const isFormer = world.devices.peek(name) !== undefined || port?.externalIds[INSTALLED] === 'true';
    if (port?.opened === undefined || !isFormer) return;
    this.#take(name, { kind: 'absent' });
    throw new Error('Open vSwitch still has the port of an earlier device of this name');
  }

  /** As it is now. What this process alone made, and saw since, is not read again. */
  async #before(output: DeviceOutput): Promise<ObservedDevice> {
    const { name } = output;
    const seen = this.#options.world.devices.peek(name);
    if (seen === undefined && this.#links?.has(name) !== true) return { kind: 'absent' };
    return seen !== undefined && this.#prepared.has(name) ? seen : await this.#read(output);
  }

  async #makeLink(output: LinkOutput): Promise<void> {
    const { programs, host } = this.#options;
    const observed = await this.#read(output);
    if (observed.kind === 'absent' && (this.#missing.get(output.name) ?? 0) > 0)
      throw new Error('it does not exist, though Open vSwitch has its port: another program deleted it');
    // Open vSwitch makes it. Another program may delete it before it was seen.
    if (observed.kind === 'absent') this.#watch.await(output.name);
    if (observed.kind !== 'present') return;
    const { keys, lines } = linkChange(output, observed);
    if (keys.length === 0 && lines.length === 0) return this.#tellWaiting(output, observed);
    // A node without one family still gets the routes of the other.
    const reasons: string[] = [];
    const attempt = async (written: Promise<unknown>): Promise<void> =>
      void (await written.catch((error: unknown) => reasons.push(error instanceof Error ? error.message : String(error))));
    if (keys.length > 0) await attempt(setKeys(programs, keys));
    if (lines.length > 0) await attempt(host.write(lines));
    this.#tellWaiting(output, await this.#read(output));
    if (reasons.length > 0) throw new Error(`${reasons.join('; ')}${familyAdvice(output, reasons)}`);
  }

  /** Routes whose place another program's has: it keeps it. */
  #tellWaiting({ name, routes }: LinkOutput, observed: ObservedDevice): void {
    const { world, retries, log } = this.#options;
    const taken = new Set(observed.kind === 'present' ? observed.elsewhere : []);
    const waiting = routes.map(({ destination }) => destination).filter((destination) => taken.has(destination));
    for (const destination of waiting) {
      const id = routeId(destination);
      const reason = waitingText(destination, name);
      if (world.failures.peek(id) !== reason) log.warn('a route of another program is left as it is', { reason });
      retries.stays(id, reason);
    }
    for (const destination of this.#waiting.get(name) ?? []) if (!waiting.includes(destination)) retries.succeeded(routeId(destination));
    this.#waiting.set(name, waiting);
  }

  async #read(output: DevicePartOutput): Promise<ObservedDevice> {
    const { programs, host, world } = this.#options;
    const { name } = output;
    if (output.kind === 'link') {
      this.#forwards.clear();
      const opened = world.ports.peek(name)?.opened;
      const shown = await this.#nodeDevice(await host.read(), name);
      if (shown.kind === 'absent' && opened !== undefined) return this.#take(name, this.#missed(name, opened));
      this.#missing.delete(name);
      return this.#take(name, shown);
    }
    const [inner, state] = await Promise.all([observeInnerEnd(programs, output.namespacePath, output.innerName), host.read()]);
    const isKept = output.kind === 'retained-device' || this.#given.has(name);
    const shown = (isKept ? givenDevice(inner, state, output) : undefined) ?? podDevice(inner, state, name);
    if (shown.kind === 'present') return this.#take(name, { ...shown, ...this.#findings.get(name) });
    this.#findings.delete(name);
    return this.#take(name, shown);
  }

  /** @param opened the row of its Interface, before the look. The rules take the port of a lost device away, and another device comes with the next one. */
  #missed(name: DeviceName, opened: string): ObservedDevice {
    const looks = (this.#missing.get(name) ?? 0) + 1;
    this.#missing.set(name, looks);
    return looks < LOOKS ? { kind: 'absent' } : { kind: 'absent', lost: opened };
  }

  async #nodeDevice(state: HostState, name: DeviceName): Promise<ObservedDevice> {
    const [output] = this.desired.of(name);
    const shown = nodeDevice(state, name, output?.kind === 'link' ? output.routes : []);
    if (shown.kind !== 'present') return shown;
    // Of the families that it is to have: before its first write the device has no address.
    const { addresses } = output?.kind === 'link' ? output : shown;
    // Also later: an interface that goes to its bridge has its default route there.
    const advertised = await advertisedDevices(this.#options.programs, state);
    return { ...shown, forwards: await this.#doesForward(addresses), ...(advertised.length > 0 && { advertised }) };
  }

  async #doesForward(addresses: readonly string[]): Promise<boolean> {
    const key = forwardingKeys(addresses).join();
    const known = this.#forwards.get(key);
    if (known !== undefined) return known;
    const forwarding = await forwards(this.#options.programs, addresses);
    this.#forwards.set(key, forwarding);
    return forwarding;
  }

  #take(name: DeviceName, observed: ObservedDevice): ObservedDevice {
    const { devices } = this.#options.world;
    if (observed.kind === 'present') this.#addresses.set(name, observed.addresses);
    if (!equal(devices.peek(name), observed)) devices.set(name, observed);
    return observed;
  }

  async #remove(name: DeviceName): Promise<void> {
    await this.#delete(name);
    await this.#endConnections(name);
    this.#findings.delete(name);
    this.#prepared.delete(name);
    this.#given.forget(name);
    this.#missing.delete(name);
    this.#watch.forget(name);
    this.#options.world.devices.delete(name);
  }

  /** Without its program a pod is removed all the same. */
  async #endConnections(name: DeviceName): Promise<void> {
    const { programs, log } = this.#options;
    const reason = await endDeadConnections(programs, this.#addresses.get(name) ?? []);
    this.#addresses.delete(name);
    if (reason !== undefined) log.warn('UDP clients of a pod that is gone may still be led to it', { device: name, reason });
  }

  /** Only a link with our alias, or none. */
  async #delete(name: DeviceName): Promise<void> {
    const { host, removals } = this.#options;
    if (!ourLinks(await host.read()).has(name)) return;
    await removals.write([removalLine(name)]).catch((error: unknown) => {
      if (!/Cannot find device|does not exist/.test(String(error))) throw error;
    });
  }

  /** Those whose port was lost while no agent ran. */
  #restore(links: ReadonlyMap<string, string>): void {
    const { world, restored } = this.#options;
    for (const [name, alias] of links) {
      const attachment = attachmentOf(alias);
      if (attachment === undefined || world.attachments.peek(attachment.key) !== undefined) continue;
      const device = unusualDevice(attachment.containerId, attachment.interfaceName, name as DeviceName);
      world.attachments.set(attachment.key, { ...attachment, ...device, order: RESTORED.withLinkAlone });
    }
    restored?.();
  }

  /** Once Open vSwitch made one, or an older agent; and when another program undoes it. */
  async #quieten({ links }: HostState, ours: ReadonlyMap<string, string>): Promise<void> {
    const { host, log, programs } = this.#options;
    const unaddressed = [...this.desired.ids].filter((name) => {
      const [output] = this.desired.of(name);
      return output?.kind === 'link' && output.addresses.length === 0;
    });
    const loud = loudEnds(links, new Set([...ours.keys(), ...unaddressed]));
    if (loud.length === 0) return;
    const ran = await programs.run(['sysctl', '-eqw', ...loud.map(quietKey)]);
    const failed = await host.write(loud.map(quietLine)).then(
      () => '',
      (error: unknown) => String(error),
    );
    // A pod may have gone meanwhile.
    if (ran.ok && (failed === '' || /Cannot find device/.test(failed))) return;
    log.warn('devices of the agent still hear what pods send', { devices: loud, reason: ran.ok ? failed : ran.message });
    this.#listAgain();
  }

  #listAgain(): void {
    this.#quietTimer ??= this.#options.clock.setTimeout(() => {
      this.#quietTimer = undefined;
      if (!this.#stopped) void this.#list(true);
    }, QUIET_AGAIN_MS);
  }

  /**
   * Lists our links: those that vanished are due. One that no rule knows stays: it exists only as long as the pod's namespace does, and the
   * Open_vSwitch database, which has the attachments, may have been replaced.
   */
  async #list(isTold: boolean): Promise<void> {
    const { host, log, wake, world } = this.#options;
    if (!isTold) this.#forwards.clear();
    try {
      const state = await host.read();
      const links = ourLinks(state);
      await this.#quieten(state, links);
      const [nodes, pods] = [true, false].map((isNodes) =>
        Array.from(world.devices.entries() as IterableIterator<[DeviceName, ObservedDevice]>).filter(
          ([name]) => (this.desired.of(name)[0]?.kind === 'link') === isNodes,
        ),
      ) as [[DeviceName, ObservedDevice][], [DeviceName, ObservedDevice][]];
      const ends = new Map(state.links.map((link) => [link.ifname, link]));
      // At once: what is read of a pod's device is of a later time.
      for (const [name, device] of pods) {
        const end = ends.get(name);
        // Another program may have set the node's end down, or made it smaller: then not all of the pod's packets pass.
        const isHurt = end?.flags?.includes('UP') === false || (end?.mtu ?? Infinity) < (device.kind === 'present' ? device.mtu : 0);
        if (device.kind === 'present' && device.up && isHurt) this.desired.due.add(name);
        // Also with another alias: its port would be taken away and made again with each listing.
        if (device.kind === 'present' ? end !== undefined : device.kind === 'absent') continue;
        if (device.kind === 'present') world.devices.set(name, { kind: 'absent' });
        if (this.desired.of(name).length > 0) this.desired.due.add(name);
      }
      // Of the node's own devices every part may be changed by others.
      for (const [name, device] of nodes) if (!equal(await this.#nodeDevice(state, name), device)) this.desired.due.add(name);
      const isFirst = this.#links === undefined;
      this.#links = links;
      if (isFirst) this.#restore(links);
      wake();
    } catch (error) {
      log.warn('the links of this node could not be listed', { reason: String(error) });
      this.#listAgain();
    }
  }
}

/** @throws Error with the reason; the other keys are set */
async function setKeys(programs: Programs, keys: readonly string[]): Promise<void> {
  const ran = await programs.run(['sysctl', '-qw', ...keys]);
  if (!ran.ok) throw new Error(`sysctl -qw ${keys.join(' ')}: ${ran.message}`);
}

/** Where every line that failed is about IPv6, the node most likely has none. */
function familyAdvice({ name }: LinkOutput, reasons: readonly string[]): string {
  const failed = reasons.flatMap((reason) => reason.split('; ')).filter((text) => text.startsWith('ip '));
  return failed.length > 0 && failed.every((text) => /^ip \S+ \S+ [0-9a-f]*:[0-9a-f:]*\//.test(text))
    ? `; if this node has IPv6 switched off, its pods have none either: sysctl net.ipv6.conf.${sysctlName(name)}.disable_ipv6, and ipv6.disable in /proc/cmdline`
    : '';
}

function routeId(destination: string): string {
  return `route ${destination}`;
}
