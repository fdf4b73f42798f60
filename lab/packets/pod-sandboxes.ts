import { randomBytes } from 'node:crypto';
import type { LabNode } from '../kubelet/lab-node.ts';
import type { ObservedPod } from '../kubelet/observed-pod.ts';
import { SandboxError, type Sandboxes } from '../kubelet/sandboxes.ts';
import type { NetworkNamespace } from '../node/namespace.ts';
import { Sandbox } from '../node/sandbox.ts';
import type { AgentNode } from './agent-node.ts';
import { callPlugin, type Called } from './plugin-call.ts';
import type { PodName, SandboxFiles } from './sandbox-files.ts';

export interface PodSandbox {
  readonly uid: string;
  readonly node: AgentNode;
  /** Undefined with host networking. */
  readonly sandbox: Sandbox | undefined;
  /** One of each family. */
  readonly addresses: readonly string[];
}

/** A name of a network namespace has at most 255 bytes; those of pod and namespace together may have more. */
const LONGEST_ROLE = 60;

/** Container runtimes in one: each pod has a network namespace, which the CNI plugin fills, or that of its node with host networking. */
export class PodSandboxes implements Sandboxes {
  readonly #nodes: ReadonlyMap<string, AgentNode>;
  readonly #files: SandboxFiles;
  /** By namespace and name. */
  readonly #sandboxes = new Map<string, PodSandbox>();

  /** @param files where each pod's network is written down */
  constructor(nodes: readonly AgentNode[], files: SandboxFiles) {
    this.#nodes = new Map(nodes.map((one) => [one.node.name, one]));
    this.#files = files;
  }

  /** The network namespace of a pod that runs, and its node. */
  find({ namespace, name }: PodName): PodSandbox | undefined {
    return this.#sandboxes.get(`${namespace}/${name}`);
  }

  addressesOf(pod: ObservedPod): readonly string[] | undefined {
    const present = this.#sandboxes.get(keyOf(pod));
    return present?.uid === pod.metadata.uid ? present?.addresses : undefined;
  }

  async setUp(pod: ObservedPod, labNode: LabNode, signal: AbortSignal): Promise<void> {
    const present = this.#sandboxes.get(keyOf(pod));
    if (present !== undefined) await this.#remove(pod, present);
    const node = this.#nodes.get(labNode.name);
    if (node === undefined) throw new SandboxError(pod, 'set up', `node ${labNode.name} is not of this laboratory`);
    const { uid = '' } = pod.metadata;
    if (pod.spec.hostNetwork === true) {
      await this.#keep(pod, { uid, node, sandbox: undefined, addresses: labNode.addresses });
      return;
    }
    const { namespace, name } = nameOf(pod);
    const earlier = await this.#files.read({ namespace, name });
    // The failure of the last attempt is what a user asks for.
    if (earlier?.kind !== 'starting') await this.#files.write({ namespace, name }, { kind: 'starting', node: node.node.name });
    const sandbox = await Sandbox.create(`${namespace}-${name}`.slice(0, LONGEST_ROLE), randomBytes(32).toString('hex'));
    try {
      const addresses = await this.#add(pod, node, sandbox, signal);
      await this.#keep(pod, { uid, node, sandbox, addresses });
    } catch (error) {
      // As a container runtime does: what a failed ADD left is removed, and the next attempt has a new sandbox.
      await this.#call('DEL', pod, node, sandbox).catch(() => undefined);
      await sandbox.delete();
      if (error instanceof SandboxError) {
        await this.#files.write({ namespace, name }, { kind: 'starting', node: node.node.name, failure: error.message });
        throw error;
      }
      throw new SandboxError(pod, 'set up', error instanceof Error ? error.message : String(error));
    }
  }

  async tearDown(pod: ObservedPod): Promise<void> {
    const present = this.#sandboxes.get(keyOf(pod));
    if (present === undefined) await this.#files.remove(nameOf(pod));
    // The name may be that of the next pod already.
    else if (present.uid === pod.metadata.uid) await this.#remove(pod, present);
  }

  /** Deletes all network namespaces. The nodes are deleted afterwards, so the plugin is not called. */
  async deleteAll(): Promise<void> {
    for (const { sandbox } of this.#sandboxes.values()) await sandbox?.delete();
    this.#sandboxes.clear();
  }

  async #keep(pod: ObservedPod, made: PodSandbox): Promise<void> {
    const namespace: NetworkNamespace = made.sandbox?.namespace ?? made.node.node.namespace;
    this.#sandboxes.set(keyOf(pod), made);
    await this.#files.write(nameOf(pod), { kind: 'running', path: namespace.path, node: made.node.node.name });
  }

  async #remove(pod: ObservedPod, { node, sandbox }: PodSandbox): Promise<void> {
    await this.#files.remove(nameOf(pod));
    if (sandbox !== undefined) {
      const called = await this.#call('DEL', pod, node, sandbox);
      if (called.exit !== 0) throw new SandboxError(pod, 'tear down', failureText('delete', called));
      await sandbox.delete();
    }
    this.#sandboxes.delete(keyOf(pod));
  }

  async #add(pod: ObservedPod, node: AgentNode, sandbox: Sandbox, signal: AbortSignal): Promise<readonly string[]> {
    const called = await this.#call('ADD', pod, node, sandbox, signal);
    if (called.exit !== 0) throw new SandboxError(pod, 'set up', failureText('add', called));
    const { ips } = JSON.parse(called.output) as { readonly ips: readonly { readonly address: string }[] };
    return ips.map(({ address }) => address.slice(0, address.indexOf('/')));
  }

  async #call(command: 'ADD' | 'DEL', pod: ObservedPod, node: AgentNode, sandbox: Sandbox, signal?: AbortSignal): Promise<Called> {
    return await callPlugin({ command, socket: node.socket, pod: nameOf(pod), sandbox, ...(signal === undefined ? {} : { signal }) });
  }
}

/** As containerd words it. */
function failureText(verb: 'add' | 'delete', { exit, output, errors }: Called): string {
  let error: { readonly msg?: string; readonly details?: string };
  try {
    error = JSON.parse(output) as typeof error;
  } catch {
    error = { msg: `it ended with exit code ${exit}`, details: errors.trim() };
  }
  const text = [error.msg, error.details].filter((part) => part !== undefined && part !== '').join(': ');
  return `plugin type="kube-ovn" failed (${verb}): ${text}`;
}

function nameOf({ metadata: { namespace = '', name } }: ObservedPod): PodName {
  return { namespace, name };
}

function keyOf(pod: ObservedPod): string {
  const { namespace, name } = nameOf(pod);
  return `${namespace}/${name}`;
}
