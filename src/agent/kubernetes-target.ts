/** The objects of the API server that concern this node: its pods, its own Node, and the Subnets. */
import type { LabelSelector } from '../api/kubernetes/meta.ts';
import { isTableOfHost } from '../api/routing-tables.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { ListWatchCache } from '../kube/cache/list-watch-cache.ts';
import { keyOf, type KubeObject, PODS, type Resource } from '../kube/resource.ts';
import { acceptedSpecIn } from '../compile/subnet/validity/accepted-spec-annotation.ts';
import { KeyedOutputs } from '../compile/keyed-outputs.ts';
import type { ProviderNetworkSpec } from '../api/kinds/provider-network.ts';
import type { VlanSpec } from '../api/kinds/vlan.ts';
import { vlanProvider, vlanTag } from '../kinds/vlan/resource/vlan-fields.ts';
import type { Log } from '../runtime/log.ts';
import type { Target } from '../target/target.ts';
import type { Clock, Random } from '../timing/clock.ts';
import type { Table } from '../world/table.ts';
import { kilnAnnotation } from '../api/well-known.ts';
import { canonicalAddress } from '../net/address.ts';
import { canonicalCidr } from '../net/cidr.ts';
import { splitList } from '../net/dual.ts';
import type { Retries } from './retries.ts';
import { API_SERVER, type NodeFacts, type NodeSubnet, type NodeWorld, type ObservedCondition } from './world/node-world.ts';
import type { NodeAnnotationsOutput } from './world/outputs.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const VLANS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'vlans', kind: 'Vlan', namespaced: false };
const PROVIDER_NETWORKS: Resource = {
  group: 'kubeovn.io',
  version: 'v1',
  plural: 'provider-networks',
  kind: 'ProviderNetwork',
  namespaced: false,
};
const SUBNETS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false };

interface PodObject extends KubeObject {
  readonly spec?: { readonly hostNetwork?: boolean };
}
interface NodeObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly conditions?: readonly (ObservedCondition & { readonly type: string })[];
  };
}
interface SubnetSpec {
  readonly mtu?: number;
  readonly vpc?: string;
  readonly cidrBlock?: string;
  readonly vlan?: string;
  readonly logicalGateway?: boolean;
  readonly u2oInterconnection?: boolean;
  readonly disableGatewayCheck?: boolean;
  readonly natOutgoing?: boolean;
  readonly gatewayType?: string;
  readonly gatewayNode?: string;
  readonly gatewayNodeSelectors?: readonly LabelSelector[];
  readonly externalEgressGateway?: string;
  readonly policyRoutingTableID?: number;
  readonly policyRoutingPriority?: number;
}
interface SubnetObject extends KubeObject {
  readonly spec?: SubnetSpec;
  readonly status?: {
    readonly natOutgoingPolicyRules?: readonly {
      readonly action?: string;
      readonly match?: { readonly srcIPs?: string; readonly dstIPs?: string };
    }[];
  };
}

interface VlanObject extends KubeObject {
  readonly spec: VlanSpec;
}
interface ProviderNetworkObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly creationTimestamp?: string };
  readonly spec: ProviderNetworkSpec;
}

interface Source {
  readonly cache: ListWatchCache<never>;
  readonly ready: () => boolean;
  readonly stale: () => boolean;
}

export interface KubernetesTargetOptions {
  readonly client: KubeClient;
  readonly node: string;
  readonly world: NodeWorld;
  readonly retries: Retries;
  readonly clock: Clock;
  /** Default: the system's. */
  readonly random?: Random;
  readonly log: Log;
  readonly wake: () => void;
}

export class KubernetesTarget implements Target {
  readonly name = 'the API server';
  readonly busy = false;
  readonly desired = new KeyedOutputs<NodeAnnotationsOutput>(['node-annotations'], ({ node }) => node);
  readonly #options: KubernetesTargetOptions;
  readonly #sources: readonly Source[];
  #sent = false;
  #stopped = false;

  constructor(options: KubernetesTargetOptions) {
    this.#options = options;
    const { node, world, wake, client, clock, random } = options;
    const shared = { client, clock, ...(random !== undefined && { random }) };
    const observe = <T extends KubeObject, V>(cache: ListWatchCache<T>, table: Table<V>, view: (object: T) => V): Source => {
      cache.onDelta((deltas) => {
        for (const { type, object } of deltas) {
          const key = keyOf(object.metadata);
          if (type === 'upsert') table.set(key, view(object));
          else table.delete(key);
        }
        this.examineAll();
        wake();
      });
      cache.onState((state) => {
        // What is not observed then may exist.
        if (state === 'stale') world.failures.set(API_SERVER, 'the API server does not answer; kubectl get nodes');
        else if (this.#sources.every((source) => !source.stale())) world.failures.delete(API_SERVER);
        wake();
      });
      return { cache: cache as unknown as ListWatchCache<never>, ready: () => cache.ready, stale: () => cache.state === 'stale' };
    };
    this.#sources = [
      observe(
        new ListWatchCache<PodObject>({ ...shared, resource: PODS, fieldSelector: `spec.nodeName=${node}` }),
        world.pods,
        ({ metadata }) => ({
          uid: metadata.uid ?? '',
          annotations: metadata.annotations ?? {},
        }),
      ),
      observe(
        new ListWatchCache<NodeObject>({ ...shared, resource: NODES, fieldSelector: `metadata.name=${node}` }),
        world.nodes,
        ({ metadata, status }) => ({
          uid: metadata.uid ?? '',
          annotations: metadata.annotations ?? {},
          labels: metadata.labels ?? {},
          ...networkUnavailable(status?.conditions),
          addresses: (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
        }),
      ),
      observe(new ListWatchCache<SubnetObject>({ ...shared, resource: SUBNETS }), world.subnets, subnetOf),
      observe(new ListWatchCache<VlanObject>({ ...shared, resource: VLANS }), world.vlans, ({ spec }) => ({
        providerNetwork: vlanProvider(spec),
        tag: vlanTag(spec),
      })),
      observe(
        new ListWatchCache<ProviderNetworkObject>({ ...shared, resource: PROVIDER_NETWORKS }),
        world.providerNetworks,
        ({ metadata, spec }) => ({ uid: metadata.uid ?? '', created: metadata.creationTimestamp ?? '', spec }),
      ),
    ];
  }

  get quiet(): boolean {
    return this.desired.due.size === 0 && !this.#sent;
  }

  get observed(): boolean {
    return this.#sources.every(({ ready }) => ready());
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  start(): void {
    for (const { cache } of this.#sources) cache.start();
  }

  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    await Promise.all(this.#sources.map(({ cache }) => cache.close()));
  }

  examineAll(): void {
    for (const node of this.desired.ids) this.desired.due.add(node);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (node) => ({ node, metadata: this.#missing(node) })).filter(
      ({ metadata }) => metadata !== undefined,
    );
  }

  flush(): boolean {
    for (const node of this.desired.due) {
      if (this.#sent || this.#options.retries.mustWait(`node ${node}`)) break;
      this.desired.due.delete(node);
      const missing = this.#missing(node);
      if (missing !== undefined) void this.#send(node, missing);
      // A write may have had its effect although its answer was lost.
      else this.#options.retries.succeeded(`node ${node}`);
    }
    return true;
  }

  /** Annotations and labels that differ; undefined if none does. */
  #missing(name: string): MetadataPatch | undefined {
    const node = this.#options.world.nodes.peek(name);
    if (node === undefined) return undefined;
    const outputs = this.desired.of(name);
    const annotations = differing(
      outputs.map((output) => output.annotations),
      node.annotations,
    );
    const labels = differing(
      outputs.map((output) => output.labels ?? {}),
      node.labels,
    );
    if (annotations === undefined && labels === undefined) return undefined;
    return { ...(annotations !== undefined && { annotations }), ...(labels !== undefined && { labels }) };
  }

  /** The watch shows the result, and the next diff compares with that. */
  async #send(name: string, metadata: MetadataPatch): Promise<void> {
    const { client, world, retries, log, wake } = this.#options;
    const uid = world.nodes.peek(name)?.uid;
    this.#sent = true;
    try {
      await client.mergePatch(NODES, { name }, { metadata: { uid, ...metadata } });
      retries.succeeded(`node ${name}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn('the annotations of the node could not be written; they will be tried again', { node: name, reason });
      retries.failed(`node ${name}`, reason);
      this.desired.due.add(name);
    }
    this.#sent = false;
    wake();
  }
}

type TextPatch = Readonly<Record<string, string | null>>;

interface MetadataPatch {
  readonly annotations?: TextPatch;
  readonly labels?: TextPatch;
}

function differing(wanted: readonly TextPatch[], present: Readonly<Record<string, string>>): TextPatch | undefined {
  const found = wanted.flatMap((patch) => Object.entries(patch)).filter(([key, value]) => (present[key] ?? null) !== value);
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

/** Without the time of the heartbeat, which says nothing about the network. */
function networkUnavailable(conditions: NonNullable<NodeObject['status']>['conditions'] = []): Pick<NodeFacts, 'networkUnavailable'> {
  const found = conditions.find(({ type }) => type === 'NetworkUnavailable');
  if (found === undefined) return {};
  const { status = '', reason = '', message = '', lastTransitionTime = '' } = found;
  return { networkUnavailable: { status, reason, message, lastTransitionTime } };
}

/** What is in effect: while a later spec is refused, the controller records the one that was accepted, and the MTU that running pods have. */
function subnetOf({ metadata: { annotations, uid }, spec: requested = {}, status }: SubnetObject): NodeSubnet {
  const spec = acceptedSpecIn(annotations ?? {}, uid ?? '') ?? requested;
  const recorded = annotations?.[kilnAnnotation.mtu];
  return {
    mtu: (recorded === undefined ? spec.mtu : Number(recorded)) || 0,
    vpc: spec.vpc ?? '',
    cidrs: splitList(spec.cidrBlock ?? '').flatMap((text) => canonicalCidr(text) ?? []),
    ...(spec.vlan !== undefined && spec.vlan !== '' && { vlan: spec.vlan }),
    ...(spec.u2oInterconnection === true && { interconnected: true }),
    overlay: (spec.vlan ?? '') === '' || spec.logicalGateway === true,
    checksGateway: spec.disableGatewayCheck !== true,
    natOutgoing: spec.natOutgoing === true,
    centralized: spec.gatewayType === 'centralized',
    gatewayNodes: spec.gatewayNode ?? '',
    gatewaySelectors: spec.gatewayNodeSelectors ?? [],
    natRules: (status?.natOutgoingPolicyRules ?? []).map(({ action, match }) => ({
      action: action === 'forward' ? 'forward' : 'nat',
      sources: match?.srcIPs ?? '',
      destinations: match?.dstIPs ?? '',
    })),
    ...egressOf(spec),
  };
}

/** The rule of priority 0 finds the node's own addresses. */
const FIRST_PRIORITY = 1;

function egressOf(spec: SubnetSpec): Pick<NodeSubnet, 'egress'> {
  const gateways = splitList(spec.externalEgressGateway ?? '').flatMap((text) => canonicalAddress(text) ?? []);
  const { policyRoutingTableID: table = 0, policyRoutingPriority: priority = 0 } = spec;
  if (gateways.length === 0 || spec.natOutgoing === true || isTableOfHost(table)) return {};
  return { egress: { gateways, table, priority: Math.max(FIRST_PRIORITY, priority) } };
}
