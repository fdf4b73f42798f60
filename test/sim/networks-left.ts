/**
 * What serves those in a network stays while its Subnet is gone, or asks for what cannot be: its switch has the load balancers that it had, its
 * link leads to a router, and its ports have their DHCP options. Held against the rest before, by no rule.
 */
import { labelKey, podAnnotation } from '../../src/api/well-known.ts';
import { VENDOR, VENDOR_KEY } from '../../src/nb/ownership.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Uuid } from '../../src/ovsdb/index.ts';
import type { SimulatedDatabase, StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import { isTrue, mapOf, textOf } from './reading.ts';
import type { Finding } from './judge.ts';
import { isOver } from './memory.ts';

const SUBNETS = 'subnets.kubeovn.io';
const ADDRESSED = ['ips', 'vips', 'ovn-eips', 'iptables-eips'].map((plural) => `${plural}.kubeovn.io`);

interface Network {
  readonly uuid: string;
  readonly balancers: readonly string[];
  /** Ports, with the options that they have. */
  readonly dhcp: ReadonlyMap<string, string>;
  /** Of its link, where that port was in a router. */
  readonly routerPort: string | undefined;
  readonly router: string | undefined;
}

export class NetworksLeft {
  readonly #store: ObjectStore;
  readonly #database: SimulatedDatabase;
  /** Names of switches, routers and ports of both that a person changed or took away since the last rest. */
  readonly touched = new Set<string>();
  /** Subnets that came, or asked for something else, meanwhile. */
  readonly #stirred = new Set<string>();
  readonly #askedInVain = new Set<string>();
  #networks = new Map<string, Network>();

  constructor(store: ObjectStore, database: SimulatedDatabase) {
    this.#store = store;
    this.#database = database;
    store.watchAll(({ type, table, object, previous }) => {
      if (table !== SUBNETS) return;
      const { name } = object.metadata;
      const [isMoved, isServed] = [vpcOf(object) !== vpcOf(previous), servedBy(object) !== servedBy(previous)];
      // What it asks for together with another Vpc is not carried out: it stays as it was, while it asks for that.
      if (type === 'ADDED' || (isServed && !isMoved) || (isMoved && this.#askedInVain.has(name))) this.#stirred.add(name);
      if (isServed && isMoved) this.#askedInVain.add(name);
    });
  }

  /** All is quiet and judged. */
  remember(): void {
    this.touched.clear();
    this.#stirred.clear();
    this.#askedInVain.clear();
    this.#networks = this.#now();
  }

  judge(): readonly Finding[] {
    const now = this.#now();
    const there = new Set<string>(['Load_Balancer', 'DHCP_Options'].flatMap((table) => [...this.#database.rows(table).keys()]));
    return [...this.#networks].flatMap(([name, before]): readonly Finding[] => {
      const network = now.get(name);
      const subnet = this.#store.get(SUBNETS, name);
      if (network?.uuid !== before.uuid || (subnet !== undefined && !isRefused(subnet)) || this.#stirred.has(name)) return [];
      const { router, routerPort: port } = before;
      // By that port alone it is known which Vpc it is in, whatever the spec says then.
      if (port === undefined || router === undefined) return [];
      if (!this.#isInUse(name) || [name, router, port].some((row) => this.touched.has(row))) return [];
      const told = (what: string): Finding => ({
        kind: `I3 left ${what.split(' ')[0] ?? ''}`,
        message: `I3: network ${name}, whose Subnet ${subnet === undefined ? 'is gone' : 'is refused'}, is there, and ${what}`,
      });
      const lost = before.balancers.filter((uuid) => there.has(uuid) && !network.balancers.includes(uuid));
      const without = [...before.dhcp].filter(
        ([uuid, had]) => had.split(',').some((one) => there.has(one)) && network.dhcp.get(uuid) === '',
      );
      return [
        ...without
          .filter(([uuid]) => !this.touched.has(this.#portName(uuid)))
          .map(([uuid]) => told(`port ${this.#portName(uuid)} has lost its DHCP options`)),
        ...(lost.length > 0 ? [told(`load balancers of its switch are ${lost.length} fewer`)] : []),
        ...(network.routerPort === undefined ? [told(`router port ${port} that its link leads to is gone`)] : []),
      ];
    });
  }

  /** Somebody has an address in it, or a port: else it goes, but for rows of others in it. Who is to end has an IP object as long as it holds any. */
  #isInUse(name: string): boolean {
    return [...ADDRESSED, 'pods'].some((table) =>
      this.#store.list(table).some((one) => {
        if (table === 'pods' && isOver(one, Infinity)) return false;
        const { metadata, ...object } = one;
        const { labels = {}, annotations = {}, finalizers = [] } = metadata;
        // Who only asks has nothing in it, nor has an address that is kept for a pod to come.
        if (table !== 'pods' && finalizers.length === 0) return false;
        if (labels[labelKey.ipReserved] === 'true' && !this.#hasPod(one)) return false;
        const { subnet } = (object['spec'] ?? {}) as { readonly subnet?: string };
        return [subnet, labels[labelKey.subnet], annotations[podAnnotation('ovn', 'logical_switch')]].includes(name);
      }),
    );
  }

  #hasPod({ spec }: KubeObject): boolean {
    const { podName = '', namespace = '' } = (spec ?? {}) as Readonly<Record<string, string | undefined>>;
    return this.#store.get('pods', `${namespace}/${podName}`) !== undefined;
  }

  #portName(uuid: string): string {
    return String(this.#database.rows('Logical_Switch_Port').get(uuid as Uuid)?.['name']);
  }

  #now(): Map<string, Network> {
    const rows = this.#database.rows('Logical_Router_Port');
    const routers = new Map(
      [...this.#database.rows('Logical_Router').values()].flatMap(({ name, ports: held }) =>
        [...setOf(held)].map((port) => [String(rows.get(port as Uuid)?.['name']), String(name)] as const),
      ),
    );
    const ports = this.#database.rows('Logical_Switch_Port');
    const networks = new Map<string, Network>();
    for (const [uuid, row] of this.#database.rows('Logical_Switch')) {
      if (!isOurs(row)) continue;
      const links = [...setOf(row['ports'])].flatMap((port) => mapOf(ports.get(port as Uuid)?.['options']).get('router-port') ?? []);
      const routerPort = links.find((port) => routers.has(port));
      const dhcp = new Map(
        [...setOf(row['ports'])].map((port) => {
          const held = ports.get(port as Uuid);
          return [port, [textOf(held?.['dhcpv4_options']), textOf(held?.['dhcpv6_options'])].filter((text) => text !== '').join()] as const;
        }),
      );
      networks.set(String(row['name']), {
        uuid,
        dhcp,
        balancers: [...setOf(row['load_balancer'])],
        routerPort,
        router: routers.get(routerPort ?? ''),
      });
    }
    return networks;
  }
}

/** What its spec asks for those in it. */
function servedBy(subnet: KubeObject | undefined): string {
  const { enableLb, enableDHCP } = (subnet?.['spec'] ?? {}) as { readonly enableLb?: boolean; readonly enableDHCP?: boolean };
  return `${enableLb} ${enableDHCP}`;
}

function vpcOf(subnet: KubeObject | undefined): string {
  return ((subnet?.['spec'] ?? {}) as { readonly vpc?: string }).vpc ?? '';
}

function isRefused(subnet: KubeObject): boolean {
  const { conditions } = (subnet['status'] ?? {}) as { readonly conditions?: Parameters<typeof isTrue>[0] };
  return isTrue(conditions, 'Error');
}

function isOurs(row: StoredRow): boolean {
  return mapOf(row['external_ids']).get(VENDOR_KEY) === VENDOR;
}

function setOf(value: unknown): ReadonlySet<string> {
  return value instanceof Set ? (value as ReadonlySet<string>) : new Set();
}
