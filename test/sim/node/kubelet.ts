/** kubelet and the container runtime of a simulated node: sandboxes of pods, and the requests of the CNI plugin as both make them. */
import type { CniReply } from '../../../src/agent/requests/cni-server.ts';
import type { Random } from '../cluster/random.ts';
import type { VirtualTime } from '../cluster/virtual-time.ts';
import type { SimulatedKernel } from './kernel.ts';

export const PROVIDERS = { eth0: 'ovn', net1: 'net1.default.ovn' } as const;
export type InterfaceName = keyof typeof PROVIDERS;

export interface RunningPod {
  readonly name: string;
  readonly uid: string;
  readonly interfaces: readonly InterfaceName[];
  wanted: boolean;
}

export interface Sandbox {
  readonly id: string;
  readonly pod: RunningPod;
  readonly path: string;
  /** `ready`: every ADD was answered, and nothing asked to remove it. */
  state: 'adding' | 'ready' | 'stopping';
  /** Kills the plugin of an ADD that is under way. */
  readonly abort: AbortController;
  /** Resolves when no ADD is under way. */
  added: Promise<unknown>;
}

/** How long after its sandbox failed a pod gets another one. */
const BACKOFF_MS = 2_000;
const RETRY_MS = 1_000;
/** The agent answers after 60 s at the latest. */
const LONGEST_ANSWER_MS = 61_000;

export interface KubeletOptions {
  readonly time: VirtualTime;
  readonly kernel: SimulatedKernel;
  readonly random: Random;
  /** Undefined: there is no agent, or it died. */
  readonly ask: (path: string, body: object, signal: AbortSignal) => Promise<CniReply | undefined>;
  readonly alarm: (message: string) => void;
  /** A DEL was answered. */
  readonly removed: (sandbox: Sandbox, name: InterfaceName) => void;
  /** Called after each change that is not the agent's. */
  readonly changed: () => void;
}

export class Kubelet {
  readonly sandboxes = new Map<string, Sandbox>();
  readonly #options: KubeletOptions;
  /** Its flows end with the node's run. */
  #boot = 0;
  /** The node is down: pods are started when it is up again. */
  isDown = false;

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  sandboxesOf(pod: RunningPod): readonly Sandbox[] {
    return [...this.sandboxes.values()].filter((sandbox) => sandbox.pod === pod);
  }

  /** Nothing is under way: each pod that is wanted is ready, and no other sandbox exists. */
  isIdle(pods: readonly RunningPod[]): boolean {
    const ready = [...this.sandboxes.values()].filter(({ state, pod }) => state === 'ready' && pod.wanted);
    return ready.length === this.sandboxes.size && pods.every((pod) => !pod.wanted || this.sandboxesOf(pod).length === 1);
  }

  /** Makes sandboxes until one is ready, or the pod is no longer wanted. */
  async start(pod: RunningPod): Promise<void> {
    const { kernel, random, changed } = this.#options;
    const boot = this.#boot;
    while (pod.wanted && boot === this.#boot && !this.isDown) {
      const id = `${random.uuid()}${random.uuid()}`.replaceAll('-', '');
      const path = `/run/netns/cni-${id.slice(0, 8)}`;
      const sandbox: Sandbox = { id, pod, path, state: 'adding', abort: new AbortController(), added: Promise.resolve() };
      this.sandboxes.set(id, sandbox);
      kernel.addNamespace(sandbox.path);
      changed();
      const added = this.#add(sandbox, boot);
      sandbox.added = added;
      if (await added) {
        sandbox.state = 'ready';
        changed();
        return;
      }
      if (boot !== this.#boot) return;
      await this.stop(sandbox);
      await this.#sleep(BACKOFF_MS);
    }
  }

  async #add(sandbox: Sandbox, boot: number): Promise<boolean> {
    const { time, alarm } = this.#options;
    for (const name of sandbox.pod.interfaces) {
      const since = time.now;
      const reply = await this.#request('add', sandbox, name);
      if (boot !== this.#boot || sandbox.state !== 'adding') return false;
      if (reply !== undefined && time.now - since > LONGEST_ANSWER_MS) alarm(`an ADD was answered after ${time.now - since} ms`);
      if (reply?.status !== 200) return false;
    }
    return true;
  }

  /** Requests until it is removed; then the namespace goes, and the runtime sometimes asks once more. */
  async stop(sandbox: Sandbox): Promise<void> {
    const { kernel, random, changed, removed } = this.#options;
    const boot = this.#boot;
    sandbox.state = 'stopping';
    changed();
    sandbox.abort.abort();
    await sandbox.added;
    for (const name of sandbox.pod.interfaces)
      while (this.sandboxes.has(sandbox.id)) {
        const reply = await this.#request('del', sandbox, name);
        if (boot !== this.#boot) return;
        if (reply?.status === 204) {
          removed(sandbox, name);
          break;
        }
        await this.#sleep(RETRY_MS);
        if (boot !== this.#boot) return;
      }
    kernel.removeNamespace(sandbox.path);
    changed();
    if (random.chance(0.3)) for (const name of sandbox.pod.interfaces) await this.#request('del', sandbox, name);
    this.sandboxes.delete(sandbox.id);
  }

  /** The pod's sandbox died: it gets another one, before or after the runtime removes the first. */
  async replace(sandbox: Sandbox, first: 'old' | 'new', keepsNamespace: boolean): Promise<void> {
    const { pod } = sandbox;
    const boot = this.#boot;
    sandbox.state = 'stopping';
    if (!keepsNamespace) this.#options.kernel.removeNamespace(sandbox.path);
    this.#options.changed();
    if (first === 'new') await this.start(pod);
    if (boot === this.#boot) await this.stop(sandbox);
    if (first === 'old' && boot === this.#boot) await this.start(pod);
  }

  /** The runtime lost what it knew of the sandbox: no DEL comes. */
  forget(sandbox: Sandbox): void {
    sandbox.state = 'stopping';
    sandbox.abort.abort();
    this.sandboxes.delete(sandbox.id);
    this.#options.kernel.removeNamespace(sandbox.path);
    this.#options.changed();
  }

  /** A container that no ADD was about. */
  async strayRemoval(): Promise<void> {
    const pod = { name: 'stray', uid: '', interfaces: ['eth0'], wanted: false } as const;
    const never = { abort: new AbortController(), added: Promise.resolve() };
    await this.#request('del', { id: this.#options.random.uuid(), pod, path: '', state: 'stopping', ...never }, 'eth0');
  }

  async check(sandbox: Sandbox): Promise<readonly string[]> {
    const replies = await Promise.all(sandbox.pod.interfaces.map((name) => this.#request('check', sandbox, name)));
    return replies.flatMap((reply) => (reply?.status === 204 ? [] : [JSON.stringify(reply?.body ?? 'no answer')]));
  }

  async collect(): Promise<void> {
    const known = [...this.sandboxes.values()].map(({ id }) => ({ container_id: id, if_name: 'eth0' }));
    await this.#options.ask('/api/v1/gc', { attachments: known }, new AbortController().signal);
  }

  /** All sandboxes are dead, and everything under way is forgotten. @returns them, for the next run of the node */
  reboot(): readonly Sandbox[] {
    this.#boot++;
    this.isDown = true;
    for (const sandbox of this.sandboxes.values()) sandbox.state = 'stopping';
    return [...this.sandboxes.values()];
  }

  async #request(verb: 'add' | 'del' | 'check', { id, pod, path, abort }: Sandbox, name: InterfaceName): Promise<CniReply | undefined> {
    const body = {
      cni_type: 'kiln-cni',
      pod_name: pod.name,
      pod_uid: pod.uid,
      pod_namespace: 'default',
      container_id: id,
      net_ns: this.#options.kernel.namespaces.has(path) ? path : '',
      if_name: name,
      provider: PROVIDERS[name],
      deviceID: '',
      vhost_user_socket_volume_name: '',
      vhost_user_socket_consumption: '',
    };
    const reply = await this.#options.ask(`/api/v1/${verb}`, body, verb === 'add' ? abort.signal : new AbortController().signal);
    const { error } = (reply?.body ?? {}) as { readonly error?: unknown };
    const isSaid = typeof error === 'string' && error.length > 10 && !/undefined|\[object|NaN/.test(error);
    if (reply !== undefined && reply.status >= 400 && !isSaid) this.#options.alarm(`a ${verb} was refused with ${JSON.stringify(reply)}`);
    return reply;
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#options.time.after(ms, resolve));
  }
}
