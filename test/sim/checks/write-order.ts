/**
 * What an annotation reports is in the database first. A pod or a node gets its addresses as annotations after its port had them, and
 * `routed` after the port was in the port group of its node. A port comes after the IP object that has its addresses. Read from the order
 * of writes, without a rule.
 */
import { nodePortGroup } from '../../../src/api/names.ts';
import type { SubnetSpec } from '../../../src/api/kinds/subnet.ts';
import { DEFAULT_VPC, JOIN_SUBNET, podAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../../lab/apiserver/store.ts';
import { splitList } from '../../../src/net/dual.ts';
import { OWNER_KEY } from '../../../src/nb/ownership.ts';
import type { StoredRow } from '../../../src/ovsdb/simulated/database.ts';
import type { Finding, Check, Transacted } from './check.ts';
import { mapOf } from './observed-state.ts';

const IPS = 'ips.kubeovn.io';
const SUBNETS = 'subnets.kubeovn.io';

type Suffix = 'allocated' | 'routed' | 'logical_switch' | 'ip_address' | 'mac_address' | 'virtualmachine';

const annotation = (object: KubeObject | undefined, suffix: Suffix): string =>
  object?.metadata.annotations?.[podAnnotation('ovn', suffix)] ?? '';

/** MAC and addresses, as in a port's `addresses`. */
const macAndAddresses = (object: KubeObject | undefined): string =>
  [annotation(object, 'mac_address'), ...splitList(annotation(object, 'ip_address'))].join(' ');

/** The addresses of such a text, without the MAC. */
const addressesIn = (text: string): string => text.split(' ').slice(1).join(' ');

export class WriteOrder implements Check {
  readonly #store: ObjectStore;
  readonly #findings: Finding[] = [];
  /** The addresses that a user last wrote into a pod's or a node's annotations, by uid. */
  readonly #edited = new Map<string, string>();
  /** `<port> <MAC and addresses>` of all ports that ever existed. */
  readonly #portAddresses = new Set<string>();
  /** UUIDs of all rows that a port ever had, and of all ports that a node's port group ever had, each by name. */
  readonly #ports = new Map<string, Set<unknown>>();
  readonly #groups = new Map<string, Set<unknown>>();
  /** Names of all IP objects that ever existed. */
  readonly #ips = new Set<string>();

  /** @param byHand whether a user acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    this.#store = store;
    store.watchAll((event) => {
      if (event.type === 'ADDED' && event.table === IPS) this.#ips.add(event.object.metadata.name);
      if (event.type !== 'MODIFIED' || (event.table !== 'pods' && event.table !== 'nodes')) return;
      if (!byHand()) this.#look(event);
      else if (macAndAddresses(event.object) !== macAndAddresses(event.previous))
        this.#edited.set(event.object.metadata.uid, macAndAddresses(event.object));
    });
  }

  transacted({ execution }: Transacted): readonly string[] {
    for (const { table, uuid, after } of execution.differences) if (after !== undefined) this.#noteRow(table, uuid, after);
    return [];
  }

  /** Notes the new state of a row. */
  #noteRow(table: string, uuid: unknown, { name, addresses, ports, external_ids: ids }: StoredRow): void {
    if (typeof name !== 'string') return;
    if (table === 'Port_Group' && ports instanceof Set) add(this.#groups, name, ports);
    if (table !== 'Logical_Switch_Port') return;
    if (!this.#ports.has(name) && /^(pod|node)\//.test(mapOf(ids).get(OWNER_KEY) ?? '') && !this.#ips.has(name))
      this.#find('port', `port ${name} was created, and there never was an IP object ${name}`);
    add(this.#ports, name, [uuid]);
    for (const one of addresses instanceof Set ? addresses : [addresses]) this.#portAddresses.add(`${name} ${String(one)}`);
  }

  whenConverged(): readonly Finding[] {
    return this.#findings.splice(0);
  }

  #look({ table, object, previous }: StoreEvent): void {
    const { name, namespace = '' } = object.metadata;
    const port = table === 'nodes' ? `node-${name}` : `${annotation(object, 'virtualmachine') || name}.${namespace}`;
    const subject = table === 'nodes' ? `Node ${name}` : `Pod ${namespace}/${name}`;
    const isNew = (suffix: Suffix): boolean => annotation(object, suffix) === 'true' && annotation(previous, suffix) !== 'true';
    if (isNew('allocated')) {
      const reported = macAndAddresses(object);
      // If a user removed only some of these annotations while the others were being written, the next write restores them.
      const edited = this.#edited.get(object.metadata.uid);
      if (
        !this.#portAddresses.has(`${port} ${reported}`) &&
        edited !== reported &&
        (edited === undefined || addressesIn(edited) !== addressesIn(reported))
      )
        this.#find('addresses', `${subject} has annotations with ${reported}, and port ${port} never had these`);
      if (table === 'pods') {
        if (annotation(object, 'logical_switch') === JOIN_SUBNET)
          this.#find('join', `${subject} has an address of Subnet ${JOIN_SUBNET}, which joins nodes`);
      }
    }
    if (table === 'pods' && isNew('routed')) this.#unrouted(subject, port, object);
  }

  #unrouted(subject: string, port: string, pod: KubeObject): void {
    const { nodeName = '' } = pod['spec'] as { readonly nodeName?: string };
    const vpc = this.#vpcOf(pod);
    const group = this.#groups.get(nodePortGroup(nodeName));
    const rows = [...(this.#ports.get(port) ?? [])];
    if (vpc !== DEFAULT_VPC || group === undefined || rows.some((uuid) => group.has(uuid))) return;
    this.#find('routed', `${subject} has annotation routed, and port ${port} was never in the group of node ${nodeName}`);
  }

  #vpcOf(pod: KubeObject): string | undefined {
    return ((this.#store.get(SUBNETS, annotation(pod, 'logical_switch'))?.['spec'] ?? {}) as SubnetSpec).vpc;
  }

  #find(kind: string, message: string): void {
    this.#findings.push({ kind: `I7 order ${kind}`, message: `I7: ${message}` });
  }
}

function add(sets: Map<string, Set<unknown>>, name: string, members: Iterable<unknown>): void {
  let set = sets.get(name);
  if (set === undefined) sets.set(name, (set = new Set()));
  for (const member of members) set.add(member);
}
