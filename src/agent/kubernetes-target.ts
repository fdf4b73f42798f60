/** The objects of the API server that concern this node: its pods, its own Node, and the Subnets. */
import type { KubeClient } from '../kube/client/client.ts';
import { ListWatchCache } from '../kube/cache/list-watch-cache.ts';
import { keyOf, type KubeObject, PODS, type Resource } from '../kube/resource.ts';
import type { Target } from '../target/target.ts';
import type { Table } from '../world/table.ts';
import { canonicalCidr } from '../net/cidr.ts';
import { splitList } from '../net/dual.ts';
import type { NodeSubnet, NodeWorld } from './world/node-world.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const SUBNETS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false };

interface PodObject extends KubeObject {
  readonly spec?: { readonly hostNetwork?: boolean };
}
interface NodeObject extends KubeObject {
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}
interface SubnetObject extends KubeObject {
  readonly spec?: {
    readonly mtu?: number;
    readonly vpc?: string;
    readonly cidrBlock?: string;
    readonly vlan?: string;
    readonly logicalGateway?: boolean;
    readonly natOutgoing?: boolean;
    readonly gatewayType?: string;
    readonly gatewayNode?: string;
  };
  readonly status?: {
    readonly natOutgoingPolicyRules?: readonly {
      readonly action?: string;
      readonly match?: { readonly srcIPs?: string; readonly dstIPs?: string };
    }[];
  };
}

interface Source {
  readonly cache: ListWatchCache<never>;
  readonly ready: () => boolean;
}

export class KubernetesTarget implements Target {
  readonly name = 'the API server';
  readonly busy = false;
  readonly quiet = true;
  readonly #sources: readonly Source[];
  #stopped = false;

  constructor(client: KubeClient, node: string, world: NodeWorld, wake: () => void) {
    const observe = <T extends KubeObject, V>(cache: ListWatchCache<T>, table: Table<V>, view: (object: T) => V): Source => {
      cache.onDelta((deltas) => {
        for (const { type, object } of deltas) {
          const key = keyOf(object.metadata);
          if (type === 'upsert') table.set(key, view(object));
          else table.delete(key);
        }
        wake();
      });
      cache.onState(wake);
      return { cache: cache as unknown as ListWatchCache<never>, ready: () => cache.ready };
    };
    this.#sources = [
      observe(
        new ListWatchCache<PodObject>({ client, resource: PODS, fieldSelector: `spec.nodeName=${node}` }),
        world.pods,
        ({ metadata }) => ({
          uid: metadata.uid ?? '',
          annotations: metadata.annotations ?? {},
        }),
      ),
      observe(
        new ListWatchCache<NodeObject>({ client, resource: NODES, fieldSelector: `metadata.name=${node}` }),
        world.nodes,
        ({ metadata, status }) => ({
          uid: metadata.uid ?? '',
          annotations: metadata.annotations ?? {},
          addresses: (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
        }),
      ),
      observe(new ListWatchCache<SubnetObject>({ client, resource: SUBNETS }), world.subnets, subnetOf),
    ];
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

  examineAll(): void {}

  plan(): readonly unknown[] {
    return [];
  }

  flush(): boolean {
    return true;
  }
}

function subnetOf({ spec = {}, status }: SubnetObject): NodeSubnet {
  return {
    mtu: spec.mtu ?? 0,
    vpc: spec.vpc ?? '',
    cidrs: splitList(spec.cidrBlock ?? '').flatMap((text) => canonicalCidr(text) ?? []),
    overlay: (spec.vlan ?? '') === '' || spec.logicalGateway === true,
    natOutgoing: spec.natOutgoing === true,
    centralized: spec.gatewayType === 'centralized',
    gatewayNodes: spec.gatewayNode ?? '',
    natRules: (status?.natOutgoingPolicyRules ?? []).map(({ action, match }) => ({
      action: action === 'forward' ? 'forward' : 'nat',
      sources: match?.srcIPs ?? '',
      destinations: match?.dstIPs ?? '',
    })),
  };
}
