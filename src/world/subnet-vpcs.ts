/**
 * The Vpc of each Subnet. A Subnet does not move: once it has a router port, the Vpc of that router counts, also if a user edits `spec.vpc`
 * (Kube-OVN permits a change from empty to the default Vpc only).
 */
import { routerToSwitchPort } from '../api/names.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import type { Domain } from '../engine/domain.ts';
import { keysOf } from '../engine/domain.ts';
import type { ObservedRows } from './observed-rows.ts';
import type { Reactor } from '../engine/reactor.ts';
import type { Part } from '../engine/sets/set-definition.ts';
import { Table } from '../engine/table.ts';

/** Of a Subnet, what its Vpc follows from. */
export interface VpcClaim {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly vpc?: string };
}

interface ObservedClaim extends VpcClaim {
  readonly metadata: { readonly name: string; readonly uid: string };
}

interface Attachment {
  readonly vpc: string;
  readonly uid: string;
}

const OWNER = 'subnet//';

export class SubnetVpcs {
  readonly #table: Table<string>;
  readonly #subnets: Pick<Table<ObservedClaim>, 'peek' | 'onChange'>;
  readonly #rows: ObservedRows;
  readonly #defaultVpc: string;
  /** By Subnet, from its router ports. After a Subnet was created again in another Vpc, the port of the old one counts until it is gone. */
  readonly #attached = new Map<string, Map<RowId, Attachment>>();
  /** By router port: finds the Subnet of a port that is gone. */
  readonly #subnetOf = new Map<RowId, string>();

  constructor(reactor: Reactor, subnets: Pick<Table<ObservedClaim>, 'peek' | 'onChange'>, rows: ObservedRows, defaultVpc: string) {
    this.#table = new Table<string>(reactor, 'subnet-vpcs', { vpc: (vpc) => [vpc] });
    this.#subnets = subnets;
    this.#rows = rows;
    this.#defaultVpc = defaultVpc;
    subnets.onChange((name) => this.#file(name));
    rows.onChange({ row: (id) => this.#observe(id), member: () => undefined });
  }

  /** Names of the Subnets of a Vpc, tracked. */
  in(vpc: string): ReadonlySet<string> {
    return this.#table.bucket('vpc', vpc);
  }

  /** The Subnets of a Vpc, as a part of a live set. */
  partOf(vpc: string): Part {
    return { kind: 'bucket', table: this.#table, index: 'vpc', value: vpc };
  }

  /** The Subnets of a Vpc, as a domain for rules. */
  within(vpc: string): Domain {
    return keysOf(this.#table, (is) => is === vpc);
  }

  /** As `in`, untracked: for callers outside of rules. */
  peekIn(vpc: string): ReadonlySet<string> {
    return this.#table.peekBucket('vpc', vpc);
  }

  /** Tracked. */
  of(subnet: VpcClaim): string {
    return this.#table.get(subnet.metadata.name) ?? this.requested(subnet);
  }

  /** The Vpc in the spec; the default one if that names none. */
  requested({ spec: { vpc } }: VpcClaim): string {
    return vpc === undefined || vpc === '' ? this.#defaultVpc : vpc;
  }

  #observe(id: RowId): void {
    if (tableOf(id) !== 'Logical_Router_Port') return;
    const before = this.#subnetOf.get(id);
    const ownership = this.#rows.best(id)?.ownership;
    const name = ownership?.kind === 'ours' && ownership.owner.startsWith(OWNER) ? ownership.owner.slice(OWNER.length) : undefined;
    const vpc = name === undefined ? undefined : vpcIn(identityOf(id), name);
    if (before !== undefined && before !== name) this.#detach(before, id);
    if (name === undefined || vpc === undefined || ownership?.kind !== 'ours') return;
    this.#subnetOf.set(id, name);
    const ports = this.#attached.get(name) ?? new Map<RowId, Attachment>();
    this.#attached.set(name, ports.set(id, { vpc, uid: ownership.uid }));
    this.#file(name);
  }

  #detach(name: string, id: RowId): void {
    this.#subnetOf.delete(id);
    const ports = this.#attached.get(name);
    ports?.delete(id);
    if (ports?.size === 0) this.#attached.delete(name);
    this.#file(name);
  }

  #file(name: string): void {
    const subnet = this.#subnets.peek(name);
    if (subnet === undefined) {
      this.#table.delete(name);
      return;
    }
    const own = [...(this.#attached.get(name) ?? [])].filter(([, { uid }]) => uid === subnet.metadata.uid);
    // The order makes it the same in every process, also if rows arrive in another order.
    const [first] = own.map(([, { vpc }]) => vpc).toSorted();
    this.#table.set(name, first ?? this.requested(subnet));
  }
}

/** The router in the port name `<router>-<switch>`. */
function vpcIn(port: string, subnet: string): string | undefined {
  const end = routerToSwitchPort('', subnet);
  return port.endsWith(end) ? port.slice(0, -end.length) : undefined;
}
