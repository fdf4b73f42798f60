/**
 * A `RuleBench` with a ready network: the default Vpc with its Subnets, node `n1`, namespace `shop`. For tests of pods and addresses.
 */
import type { Settings } from '../world/settings.ts';
import { RuleBench } from './rule-bench.ts';
import type { TestObject } from './memory-objects.ts';

export interface PodInput {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly spec?: object;
  readonly statefulSet?: string;
  /** Name of the owning ReplicaSet. */
  readonly replicaSet?: string;
  /** The virtual machine of the pod. */
  readonly machine?: string;
  readonly namespace?: string;
}

export class PodScene {
  readonly bench: RuleBench;
  #made = 0;

  constructor(settings: Partial<Settings> = {}) {
    this.bench = new RuleBench({ settings });
    this.bench.put('nodes', {
      metadata: { name: 'n1' },
      spec: {},
      status: { addresses: [{ type: 'InternalIP', address: '192.168.1.11' }] },
    });
    this.namespace('shop');
    this.bench.converge();
  }

  subnet(name: string, spec: object): TestObject {
    return this.bench.put('subnets', { metadata: { name }, spec });
  }

  namespace(
    name: string,
    metadata: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> } = {},
  ): TestObject {
    return this.bench.put('namespaces', { metadata: { name, ...metadata } });
  }

  pod(name: string, input: PodInput = {}): TestObject {
    const { annotations, node = 'n1', statefulSet, machine, namespace = 'shop' } = input;
    const run = machine === undefined ? undefined : this.bench.object('virtualmachineinstances', `${namespace}/${machine}`);
    const set = statefulSet === undefined ? undefined : this.bench.object('statefulsets', `${namespace}/${statefulSet}`);
    return this.bench.put('pods', {
      metadata: {
        name,
        namespace,
        ...(annotations !== undefined && { annotations }),
        ...(set !== undefined && { ownerReferences: [{ ...ownerOf(set, 'apps/v1'), controller: true }] }),
        ...(run !== undefined && { ownerReferences: [ownerOf(run, 'kubevirt.io/v1')] }),
        ...(input.replicaSet !== undefined && {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: input.replicaSet, uid: `uid-${input.replicaSet}`, controller: true },
          ],
        }),
      },
      spec: { ...(node !== '' && { nodeName: node }), restartPolicy: 'Always', ...input.spec },
    });
  }

  /** Creates a Subnet and the pod shop/web in it, and converges. */
  webIn(subnet: string, spec: object): this {
    this.subnet(subnet, spec);
    this.pod('web', { annotations: { 'ovn.kubernetes.io/logical_switch': subnet } });
    this.bench.converge();
    return this;
  }

  statefulSet(name: string, replicas: number): TestObject {
    return this.bench.put('statefulsets', { metadata: { name, namespace: 'shop' }, spec: { replicas } });
  }

  /** A NetworkAttachmentDefinition with Kube-OVN's plugin, or another plugin with Kube-OVN's IPAM. */
  attachment(key: string, config: 'kube-ovn' | 'ipam-only' | { readonly config: string }): TestObject {
    const [namespace = '', name = ''] = key.split('/');
    const text =
      config === 'kube-ovn'
        ? `{"cniVersion":"0.3.0","type":"kube-ovn","provider":"${name}.${namespace}.ovn"}`
        : config === 'ipam-only'
          ? `{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn","provider":"${name}.${namespace}"}}`
          : config.config;
    return this.bench.put('network-attachment-definitions', { metadata: { name, namespace }, spec: { config: text } });
  }

  /** A running virtual machine and its instance. */
  machine(name: string, template: object = {}): void {
    this.bench.put('virtualmachines', { metadata: { name, namespace: 'shop' }, spec: { template } });
    this.bench.put('virtualmachineinstances', { metadata: { name, namespace: 'shop' }, spec: {} });
  }

  /** An existing port of a pod, in the switch of a Subnet that may be missing. */
  ownPort(pod: TestObject, subnet: string, portAddress: string): void {
    const { northbound, world } = this.bench;
    const { name, namespace = '', uid } = pod.metadata;
    const uuid = (start: string): string => `${start}0000000-0000-4000-8000-${(++this.#made).toString().padStart(12, '0')}`;
    const [found] = [...northbound.table('Logical_Switch')].filter(([, row]) => row['name'] === subnet);
    const parent = found?.[0] ?? uuid('1');
    const ours = (owner: string, of: string): object => ({ vendor: 'kube-ovn', 'kiln.io/owner': owner, 'kiln.io/uid': of });
    if (found === undefined)
      world.rows.apply(
        northbound,
        northbound.insert('Logical_Switch', parent, { name: subnet, external_ids: ours(`subnet//${subnet}`, 'gone') }),
      );
    const row = {
      name: `${name}.${namespace}`,
      addresses: [portAddress],
      external_ids: { ...ours(`pod/${namespace}/${name}`, uid), ls: subnet, pod: `${namespace}/${name}` },
    };
    world.rows.apply(
      northbound,
      northbound.insert('Logical_Switch_Port', uuid('2'), row, { table: 'Logical_Switch', uuid: parent, column: 'ports' }),
    );
  }

  annotations(pod: string): Readonly<Record<string, string>> {
    return this.bench.object('pods', pod)?.metadata.annotations ?? {};
  }

  /** The pod's address in its annotation. */
  addressOf(pod: string): string | undefined {
    return this.annotations(pod)['ovn.kubernetes.io/ip_address'];
  }

  /** The addresses of a port row; undefined: no row. */
  portAddresses(port: string): unknown {
    return this.bench.row('Logical_Switch_Port', port)?.['addresses'];
  }

  /** `external_ids` of a row; empty if there is no such row. */
  externalIds(table: string, identity: string): Readonly<Record<string, string>> {
    return (this.bench.row(table, identity)?.['external_ids'] ?? {}) as Record<string, string>;
  }
}

function ownerOf({ kind, metadata }: TestObject, apiVersion: string): object {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}
