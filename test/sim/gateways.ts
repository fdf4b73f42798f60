/**
 * Centralized gateways: a Subnet whose gateway is on chosen nodes sends its traffic to one that is ready, and stays with it while that is so.
 * Held against specs and the rest before, by no rule.
 */
import { isOvnProvider } from '../../src/api/names.ts';
import { selectorMatches } from '../../src/api/kubernetes/label-selector.ts';
import type { Condition } from '../../src/api/kubernetes/meta.ts';
import type { SubnetSpec } from '../../src/api/kinds/subnet.ts';
import { DEFAULT_VPC, podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { splitList } from '../../src/net/dual.ts';
import { rowId } from '../../src/nb/row-id.ts';
import type { Uuid } from '../../src/ovsdb/index.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';

interface Choice {
  readonly subnet: string;
  readonly generation: number;
  readonly node: string;
}

export class Gateways {
  readonly #store: ObjectStore;
  /** By Subnet: the node that was its gateway at the last rest. */
  #active = new Map<string, Choice>();
  /** Nodes that something happened to since. */
  readonly #stirred = new Set<string>();

  constructor(store: ObjectStore) {
    this.#store = store;
    store.watchAll(({ type, table, object, previous }) => {
      if (table !== 'nodes') return;
      const isSteady = type === 'MODIFIED' && previous?.metadata.uid === object.metadata.uid && isReady(object) && isReady(previous);
      if (!isSteady) this.#stirred.add(object.metadata.name);
    });
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#stirred.clear();
    this.#active = new Map(
      this.#store.list('subnets.kubeovn.io').flatMap((subnet) => {
        const node = activeOf(subnet);
        const { name, uid, generation = 0 } = subnet.metadata;
        return node === '' ? [] : [[name, { subnet: uid, generation, node }]];
      }),
    );
  }

  judge(world: World): readonly Finding[] {
    return this.#store.list('subnets.kubeovn.io').flatMap((subnet) => {
      const able = this.#ableOf(subnet);
      if (able === undefined) return [];
      const { name, uid, generation = 0 } = subnet.metadata;
      const used = nodesUsed(world, name);
      const told = (what: string): Finding => ({
        kind: 'asked Subnet gateway',
        message: `Subnet ${name} has a centralized gateway, and ${what}`,
      });
      const active = activeOf(subnet);
      if (active !== '' && !able.includes(active)) return [told(`status says that this is ${active}, which cannot take its traffic`)];
      const wrong = used.filter((node) => !able.includes(node));
      if (wrong.length > 0)
        return [told(`its traffic goes to ${wrong.join(', ')}, and those that can take it are ${able.join(', ') || 'none'}`)];
      if (used.length === 0)
        return [told(`its traffic goes nowhere, and ${able.length === 0 ? 'it is ready' : `${able.join(', ')} can take it`}`)];
      const [only = ''] = used.length === 1 ? used : [];
      if (active !== only) return [told(`status says that this is ${active || 'nobody'}, and its traffic goes to ${used.join(', ')}`)];
      if ((subnet['spec'] as SubnetSpec).enableEcmp === true) {
        const idle = able.filter((node) => !used.includes(node));
        return idle.length === 0 ? [] : [told(`its traffic goes to ${used.join(', ')} alone, and ${idle.join(', ')} can take its share`)];
      }
      if (used.length > 1) return [told(`its traffic is shared by ${used.join(', ')}, and spec.enableEcmp is not set`)];
      const before = this.#active.get(name);
      const stays =
        before?.subnet === uid && before.generation === generation && !this.#stirred.has(before.node) && able.includes(before.node);
      return !stays || used.includes(before.node)
        ? []
        : [told(`it moved from ${before.node}, which still can take it, to ${used.join(', ')}`)];
    });
  }

  /** Nodes that it names, or chooses by label, and that can be its gateway; undefined where it is not said to be in place. */
  #ableOf(subnet: KubeObject): readonly string[] | undefined {
    const {
      cidrBlock = '',
      gatewayType,
      gatewayNode = '',
      gatewayNodeSelectors = [],
      provider = '',
      vpc,
      vlan = '',
    } = subnet['spec'] as SubnetSpec;
    const isOne = gatewayType === 'centralized' && vpc === DEFAULT_VPC && isOvnProvider(provider) && vlan === '';
    if (!isOne || subnet.metadata.name === 'join') return undefined;
    if (subnet.metadata.deletionTimestamp !== undefined || !says(subnet, 'Accepted') || !says(subnet, 'Ready')) return undefined;
    const join = this.#store.get('subnets.kubeovn.io', 'join');
    if (join === undefined || !says(join, 'Ready') || join.metadata.deletionTimestamp !== undefined) return undefined;
    const selected = this.#store
      .list('nodes')
      .filter(({ metadata: { labels = {} } }) => gatewayNodeSelectors.some((selector) => selectorMatches(selector, labels)));
    // The address that it leaves by may follow each.
    const named = splitList(gatewayNode).map((item) => (item.split(':', 1)[0] ?? '').trim());
    const candidates = named.length > 0 ? named : selected.map(({ metadata }) => metadata.name);
    return candidates.filter((name) => {
      const node = this.#store.get('nodes', name);
      const annotations = node?.metadata.annotations ?? {};
      if (node === undefined || !isReady(node) || annotations[podAnnotation('ovn', 'allocated')] !== 'true') return false;
      // It is sent to at its address in the join Subnet, of which each family of the traffic needs one.
      const families = familiesIn(annotations[podAnnotation('ovn', 'ip_address')] ?? '');
      return familiesIn(cidrBlock).some((family) => families.includes(family));
    });
  }
}

/** Nodes that the policies of its gateway send to. */
function nodesUsed(world: World, subnet: string): readonly string[] {
  const policies = world.rows.best(rowId('Logical_Router', DEFAULT_VPC))?.row['policies'];
  const rows = policies instanceof Set ? [...policies].map((uuid) => world.rows.entry(uuid as Uuid)) : [];
  const nodes = rows.flatMap((entry) => {
    if (entry?.ownership.kind !== 'ours' || entry.ownership.rule !== 'subnet-centralized-gateway') return [];
    const ids = entry.row['external_ids'];
    const hops = entry.row['nexthops'];
    if (!(ids instanceof Map) || ids.get('subnet') !== subnet || !(hops instanceof Set)) return [];
    return [...hops].flatMap((hop) =>
      [...world.nodes.entries()].flatMap(([name, node]) => (hasAddress(node.metadata.annotations, String(hop)) ? [name] : [])),
    );
  });
  return [...new Set(nodes)];
}

function hasAddress(annotations: Readonly<Record<string, string>> | undefined, address: string): boolean {
  return splitList(annotations?.[podAnnotation('ovn', 'ip_address')] ?? '').includes(address);
}

function familiesIn(list: string): readonly (4 | 6)[] {
  return splitList(list).map((text) => (text.includes(':') ? 6 : 4));
}

function activeOf(subnet: KubeObject): string {
  const { activateGateway = '' } = (subnet['status'] ?? {}) as { readonly activateGateway?: string };
  return activateGateway;
}

interface Said {
  readonly conditions?: readonly Pick<Condition, 'type' | 'status'>[];
}

function says(object: KubeObject, type: string): boolean {
  return ((object['status'] ?? {}) as Said).conditions?.some((one) => one.type === type && one.status === 'True') === true;
}

function isReady(node: KubeObject): boolean {
  return says(node, 'Ready');
}
