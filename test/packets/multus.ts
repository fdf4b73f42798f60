/**
 * The calls that Multus makes of plugins for one pod, without Multus itself, which is no module that can be had here: the cluster's network as `eth0` first,
 * then those of the pod's annotation in their order; the configuration of a NetworkAttachmentDefinition with its name; arguments that
 * name pod and uid; for DEL the opposite order, with the results of the ADDs (multus-cni `pkg/types/conf.go`, `pkg/multus/multus.go`; libcni).
 */
import assert from 'node:assert/strict';
import type { CalledSandbox } from '../../lab/packets/plugin-call.ts';
import type { AgentNode } from './packet-cluster.ts';

/** The configuration in a NetworkAttachmentDefinition. */
export type NetworkConfiguration = object & { readonly type: string; readonly cniVersion: string };

/** What Multus writes into `k8s.v1.cni.cncf.io/network-status`, of the result of a plugin. */
export interface NetworkStatus {
  readonly name: string;
  readonly interface: string;
  readonly mac: string;
  readonly ips: readonly string[];
}

interface Result {
  readonly interfaces?: readonly { readonly name: string; readonly mac?: string; readonly sandbox?: string }[];
  readonly ips?: readonly { readonly address: string; readonly interface?: number }[];
}

/** A network of a pod: the name of its interface, that of the definition, and what that has. */
export type Network = readonly [interfaceName: string, name: string, configuration: NetworkConfiguration];

export class MultusCalls {
  readonly #node: AgentNode;
  readonly #networks: readonly Network[];
  readonly #pod: { readonly name: string; readonly uid: string };
  readonly #results = new Map<string, Result>();

  /** @param networks the cluster's first */
  constructor(node: AgentNode, pod: { readonly name: string; readonly uid: string }, networks: readonly Network[]) {
    this.#node = node;
    this.#pod = pod;
    this.#networks = networks;
  }

  async add(sandbox: CalledSandbox): Promise<readonly NetworkStatus[]> {
    const statuses: NetworkStatus[] = [];
    for (const network of this.#networks) {
      const { exit, output } = await this.#call('ADD', sandbox, network);
      assert.equal(exit, 0, output);
      const result = JSON.parse(output) as Result;
      this.#results.set(network[0], result);
      statuses.push(statusOf(network[1], result));
    }
    return statuses;
  }

  /** Multus does it with an empty path when the namespace is gone. */
  async del(sandbox: CalledSandbox): Promise<void> {
    for (const network of this.#networks.toReversed())
      assert.deepEqual(await this.#call('DEL', sandbox, network), { exit: 0, output: '' }, network[0]);
  }

  async #call(
    command: 'ADD' | 'DEL',
    sandbox: CalledSandbox,
    [interfaceName, name, configuration]: Network,
  ): Promise<{ readonly exit: number | null; readonly output: string }> {
    const pod = `K8S_POD_NAMESPACE=default;K8S_POD_NAME=${this.#pod.name}`;
    const args = `IgnoreUnknown=true;${pod};K8S_POD_INFRA_CONTAINER_ID=${sandbox.containerId};K8S_POD_UID=${this.#pod.uid}`;
    const prevResult = command === 'DEL' ? this.#results.get(interfaceName) : undefined;
    // Its own name comes first, where the configuration has one.
    const given = { name, ...configuration, ...(prevResult === undefined ? {} : { prevResult }) };
    return await this.#node.attach(command, this.#pod.name, sandbox, interfaceName, given, args);
  }
}

/** Of interfaces in the pod alone: others are the node's. */
function statusOf(name: string, { interfaces = [], ips = [] }: Result): NetworkStatus {
  const inside = interfaces.findLast(({ sandbox = '' }) => sandbox !== '');
  assert.ok(inside, `the result of ${name} has an interface in the pod`);
  for (const { interface: at } of ips) assert.ok(at === undefined || interfaces[at]?.name === inside.name, 'each address is of it');
  return { name, interface: inside.name, mac: inside.mac ?? '', ips: ips.map(({ address }) => address.split('/')[0] ?? '') };
}
