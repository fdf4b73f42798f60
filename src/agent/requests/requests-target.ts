/**
 * The requests of container runtimes, as a target: a request becomes an attachment of the World, and is answered when the rules say what
 * became of it.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { InterfaceReply } from '../../cni/agent-protocol.ts';
import type { Target } from '../../engine/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { deviceDifferences, differencesText, type PreviousResult } from '../kernel/device-differences.ts';
import { type Attachment, type AttachmentKey, deviceOf, type DeviceName, hashedDevice, hostDevice, RESTORED } from '../world/attachment.ts';
import type { NodeWorld, ObservedDevice } from '../world/node-world.ts';
import type { AnswerOutput, DeviceOutput } from '../world/outputs.ts';
import { commandText } from '../../text/command-text.ts';

export type Reply =
  | { readonly ok: true; readonly reply: InterfaceReply | undefined }
  /** Why not, as a sentence for the pod's Event. */
  | { readonly ok: false; readonly reason: string };

/** What the targets of a node know of devices. */
export interface Devices {
  /** Whether a write for a device, or for its port, is under way. */
  isWriting(device: DeviceName): boolean;
  /** Its port is compared with what should exist. */
  examine(device: DeviceName): void;
  /** Reads a device of a pod now; what differs is written again. Undefined for one that no rule knows. @throws Error with the reason */
  look(device: DeviceName): Promise<{ readonly output: DeviceOutput; readonly observed: ObservedDevice } | undefined>;
}

interface Waiting {
  readonly verb: 'add' | 'remove';
  readonly resolve: (reply: Reply) => void;
}

/** What kubelet waits for, and tries again after. */
const ADD_MS = 60_000;
const REMOVE_MS = 15_000;
const NOT_WAITED: Reply = { ok: false, reason: 'the runtime did not wait for the answer' };
const UNKNOWN_DEVICES: Devices = { isWriting: () => false, examine: () => {}, look: () => Promise.resolve(undefined) };
const NOT_RESTORED: Reply = {
  ok: false,
  reason: `the node agent has not read yet which interfaces earlier processes made (waited ${REMOVE_MS / 1000} s); ovs-vsctl show`,
};

export class RequestsTarget implements Target {
  readonly name = 'the requests of container runtimes';
  readonly desired = new KeyedOutputs<AnswerOutput, AttachmentKey>(['answer'], ({ attachment }) => attachment);
  readonly observed = true;
  readonly busy = false;
  readonly waitingFor: readonly string[] = [];
  readonly #world: NodeWorld;
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #devices: Devices;
  readonly #waiting = new Map<AttachmentKey, Set<Waiting>>();
  /** Uids of the pods of requests that wait. */
  readonly #uids = new Map<AttachmentKey, string>();
  /** Until then an interface that is not known may exist. */
  readonly #restored: Moment;
  /** Until then the rules have not emitted what exists: it would not be collected. */
  readonly #emitted: Moment;
  #orders = 0;

  constructor(world: NodeWorld, clock: Clock, wake: () => void, devices: Devices = UNKNOWN_DEVICES) {
    this.#devices = devices;
    this.#restored = new Moment(clock);
    this.#emitted = new Moment(clock);
    this.#world = world;
    this.#clock = clock;
    this.#wake = wake;
  }

  get quiet(): boolean {
    return this.#waiting.size === 0;
  }

  start(): void {}

  /** The attachments of earlier processes are in the World. */
  restored(): void {
    this.#restored.reached();
  }

  stop(): Promise<void> {
    for (const waiting of this.#waiting.values())
      for (const { resolve } of waiting) resolve({ ok: false, reason: 'the node agent stops; the runtime has to try again' });
    this.#waiting.clear();
    return Promise.resolve();
  }

  examineAll(): void {
    for (const key of this.desired.ids) this.desired.due.add(key);
  }

  plan(): readonly unknown[] {
    return [];
  }

  /**
   * Resolves when the interface can be used, and with a reason when it cannot in time, or when `signal` is aborted: then it is removed
   * again. An interface that is there already is read, and answered when it is as it should be.
   */
  async add(attachment: Omit<Attachment, 'order'>, signal: AbortSignal): Promise<Reply> {
    const { key } = attachment;
    const present = this.#world.attachments.peek(key);
    const isSame = present !== undefined && present.removing === undefined && present.namespacePath === attachment.namespacePath;
    if (isSame) {
      // One that cannot be read is waited for.
      await this.#devices.look(deviceOf(present)).catch(() => undefined);
      if (signal.aborted) return NOT_WAITED;
    } else this.#world.attachments.set(key, { ...attachment, ...this.#deviceFor(attachment, present), order: ++this.#orders });
    const reply = await this.#wait(key, 'add', ADD_MS, signal);
    // What was answered before stays: this request did not make it.
    if (!reply.ok && !isSame) this.#forget(key);
    return reply;
  }

  /** Resolves when nothing of the interface is left; at once for one that is not known, also to an earlier process. */
  async remove(key: AttachmentKey): Promise<Reply> {
    if (!(await this.#restored.inTime(REMOVE_MS))) return NOT_RESTORED;
    const { attachments } = this.#world;
    const present = attachments.peek(key) ?? this.#remainder(key);
    if (present === undefined) return { ok: true, reply: undefined };
    if (attachments.peek(key) === undefined) attachments.set(key, present);
    if (!(await this.#emitted.inTime(REMOVE_MS))) return NOT_RESTORED;
    this.#settle(key, 'add', { ok: false, reason: 'the runtime removed the interface meanwhile' });
    this.#forget(key);
    this.#devices.examine(deviceOf(present));
    return await this.#wait(key, 'remove', REMOVE_MS);
  }

  /** Whether the interface can be used now, as a look at it shows. @param previous what the runtime was answered, if it says that */
  async check(key: AttachmentKey, previous?: PreviousResult): Promise<Reply> {
    if (!(await this.#restored.inTime(REMOVE_MS))) return NOT_RESTORED;
    const attachment = this.#world.attachments.peek(key);
    if (attachment === undefined) return { ok: false, reason: `interface ${key} is not known` };
    try {
      const looked = await this.#devices.look(deviceOf(attachment));
      const problem = looked && differenceOf(attachment, looked.output, looked.observed, previous);
      if (problem !== undefined) return { ok: false, reason: problem };
    } catch (error) {
      return { ok: false, reason: `interface ${key} cannot be read: ${error instanceof Error ? error.message : String(error)}` };
    }
    const [output] = this.desired.of(key);
    if (output?.answer.kind === 'ready') return { ok: true, reply: undefined };
    return {
      ok: false,
      reason:
        output?.answer.kind === 'waiting' || output?.answer.kind === 'refused' ? output.answer.reason : `interface ${key} is being changed`,
    };
  }

  /**
   * The runtime knows only these of one network. Others are removed if their namespace is gone as well: they may be of another network, which
   * the runtime lists on its own.
   */
  collect(known: ReadonlySet<AttachmentKey>): void {
    for (const [key, attachment] of [...this.#world.attachments.entries()] as [AttachmentKey, Attachment][]) {
      if (known.has(key) || this.#waiting.has(key)) continue;
      if (this.#world.devices.peek(deviceOf(attachment))?.kind === 'no-namespace') this.#forget(key);
    }
  }

  flush(): boolean {
    this.#emitted.reached();
    for (const key of this.desired.due) {
      const [output] = this.desired.of(key);
      // What is being written is not observed yet. The target wakes when it is.
      if (output?.answer.kind === 'removed' && this.#isBeingWritten(key)) continue;
      this.desired.due.delete(key);
      if (output?.answer.kind === 'ready') this.#settle(key, 'add', { ok: true, reply: output.answer.reply });
      if (output?.answer.kind === 'waiting') this.#follow(key, output.answer.podUid);
      if (output?.answer.kind === 'refused') this.#settle(key, 'add', { ok: false, reason: output.answer.reason });
      if (output?.answer.kind === 'abandoned') {
        this.#settle(key, 'add', { ok: false, reason: 'its pod is not on this node any more, and its network namespace does not exist' });
        this.#forget(key);
      }
      if (output?.answer.kind !== 'removed') continue;
      this.#world.attachments.delete(key);
      this.#settle(key, 'remove', { ok: true, reply: undefined });
    }
    return true;
  }

  /** A request for a pod that is deleted meanwhile ends. */
  #follow(key: AttachmentKey, uid: string | undefined): void {
    const before = this.#uids.get(key);
    if (uid !== undefined) this.#uids.set(key, uid);
    if (before !== undefined && before !== uid)
      this.#settle(key, 'add', { ok: false, reason: `the pod (uid ${before}) was deleted while its interface was made` });
  }

  #isBeingWritten(key: AttachmentKey): boolean {
    const attachment = this.#world.attachments.peek(key);
    return attachment !== undefined && this.#devices.isWriting(deviceOf(attachment));
  }

  /** Ids of containers may begin alike, and the usual name has no more of them. It stays as long as the attachment does. */
  #deviceFor({ key, containerId, interfaceName }: Omit<Attachment, 'order'>, present: Attachment | undefined): Pick<Attachment, 'device'> {
    if (present !== undefined) return present.device === undefined ? {} : { device: present.device };
    const usual = hostDevice(containerId, interfaceName);
    const isTaken = Array.from(this.#world.attachments.entries()).some(
      ([other, attachment]) => other !== key && deviceOf(attachment) === usual,
    );
    return isTaken ? { device: hashedDevice(containerId, interfaceName) } : {};
  }

  /** A port without the keys that say to which interface it belongs: another program cleared them while no agent ran. */
  #remainder(key: AttachmentKey): Attachment | undefined {
    const [containerId = '', interfaceName = ''] = key.split('/');
    const name = hostDevice(containerId, interfaceName);
    if (this.#world.ports.peek(name)?.marked !== true) return undefined;
    if (Array.from(this.#world.attachments.entries()).some(([, attachment]) => deviceOf(attachment) === name)) return undefined;
    const unknown = { namespacePath: '', pod: { namespace: '', name: '' }, provider: '', routes: [] };
    return { key, containerId, interfaceName, ...unknown, order: RESTORED.withoutLogicalPort, removing: true };
  }

  #forget(key: AttachmentKey): void {
    const attachment = this.#world.attachments.peek(key);
    if (attachment !== undefined && attachment.removing === undefined) this.#world.attachments.set(key, { ...attachment, removing: true });
    this.#wake();
  }

  async #wait(key: AttachmentKey, verb: Waiting['verb'], ms: number, signal?: AbortSignal): Promise<Reply> {
    return await new Promise((resolve) => {
      const waiting: Waiting = {
        verb,
        resolve: (reply) => {
          this.#clock.clearTimeout(timer);
          signal?.removeEventListener('abort', aborted);
          const others = this.#waiting.get(key);
          others?.delete(waiting);
          if (others?.size === 0) {
            this.#waiting.delete(key);
            this.#uids.delete(key);
          }
          resolve(reply);
        },
      };
      const timer = this.#clock.setTimeout(() => {
        const [output] = this.desired.of(key);
        const reason = output?.answer.kind === 'waiting' ? output.answer.reason : 'the node agent has not done it in time';
        waiting.resolve({ ok: false, reason: `${reason} (waited ${ms / 1000} s)` });
      }, ms);
      const aborted = (): void => waiting.resolve(NOT_WAITED);
      signal?.addEventListener('abort', aborted, { once: true });
      const present = this.#waiting.get(key);
      if (present === undefined) this.#waiting.set(key, new Set([waiting]));
      else present.add(waiting);
      // The answer may be there already.
      this.desired.due.add(key);
      this.#wake();
    });
  }

  #settle(key: AttachmentKey, verb: Waiting['verb'], reply: Reply): void {
    for (const waiting of [...(this.#waiting.get(key) ?? [])]) if (waiting.verb === verb) waiting.resolve(reply);
  }
}

/** In what an interface is not as it should be, and what to do. Undefined: it is. */
function differenceOf(
  { interfaceName, namespacePath, pod }: Attachment,
  output: DeviceOutput,
  observed: ObservedDevice,
  previous: PreviousResult | undefined,
): string | undefined {
  const differing = deviceDifferences(output, observed, previous);
  if (differing.length === 0) return undefined;
  const isMended = deviceDifferences(output, observed).length > 0;
  const next = isMended
    ? `the node agent sets it again; to see it change once more: ${commandText`nsenter --net=${namespacePath} ip monitor`}`
    : `the pod is to have something else now, and a new pod has it: ${commandText`kubectl delete pod ${pod.name} -n ${pod.namespace}`}`;
  return `interface ${interfaceName} of pod ${pod.namespace}/${pod.name} is not as it should be: ${differencesText(differing)}; ${next}`;
}

/** Something that happens once. */
class Moment {
  readonly #clock: Clock;
  readonly #promise = Promise.withResolvers<void>();
  #isReached = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  reached(): void {
    this.#isReached = true;
    this.#promise.resolve();
  }

  /** Waits so long for it. */
  async inTime(ms: number): Promise<boolean> {
    if (this.#isReached) return true;
    let timer: TimerHandle;
    const late = new Promise<void>((resolve) => (timer = this.#clock.setTimeout(resolve, ms)));
    await Promise.race([this.#promise.promise, late]);
    this.#clock.clearTimeout(timer);
    return this.#isReached;
  }
}
