/**
 * Holders of the addresses of foreign ports in the switch of a Subnet, and of ports that Kube-OVN left there for pods that are gone. They have the lowest precedence: a claimant that has such an address
 * keeps it. The addresses of a port depend on its row, on the object it is named after, and on the ownership of its switch.
 */
import { portName } from '../api/names.ts';
import type { Vip } from '../api/kinds/vip.ts';
import type { Ledger } from '../ipam/ledger.ts';
import type { Address } from '../net/address.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId, tableOf } from '../nb/row-id.ts';
import type { Uuid } from '../nb/tables.ts';
import { ovnEipAddresses } from '../kinds/ovn-eip/table/ovn-eip-addresses.ts';
import { vipAddresses } from '../kinds/vip/table/vip-addresses.ts';
import { heldTexts } from '../world/claimants.ts';
import { addressesOfPort, addressesShown, goneOwner, portsIn, subnetOfSwitch, SWITCHES, switchOfStray } from '../world/foreign-ports.ts';
import type { World } from '../world/world.ts';

const PORTS = 'Logical_Switch_Port';

export class ForeignPortHolders {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #due: (port: RowId) => void;
  readonly #keys = new Map<RowId, string>();
  /** By identity of a switch: its rows, and whether each can be a Subnet's. */
  readonly #switches = new Map<RowId, string>();

  /** @param due called with each port that has to be evaluated again */
  constructor(world: World, ledger: Ledger, due: (port: RowId) => void) {
    this.#world = world;
    this.#ledger = ledger;
    this.#due = due;
    world.vips.onChange((_, after, before) => {
      for (const vip of [before, after]) if (vip !== undefined) this.#evaluateAgain(this.#portsOf(vip));
    });
    world.ovnEips.onChange((name) => this.#evaluateAgain([name]));
    world.rows.onChange({
      row: (id) => {
        if (id.startsWith(`${SWITCHES}/`)) this.#switchChanged(id);
        else if (this.#shown) this.#routerChanged(id);
      },
      member: () => undefined,
    });
  }

  /**
   * Records the addresses of a port. An address that the object of the port's name has in this Subnet is that object's: the port lost its
   * ownership keys.
   */
  record(id: RowId, row: ReturnType<World['rows']['best']>): void {
    const before = this.#keys.get(id);
    const home = row === undefined ? undefined : switchOfStray(this.#world, row, this.#shown);
    if (before === undefined && home === undefined) return;
    const port = identityOf(id);
    const texts = home === undefined ? [] : this.#addressesOfNamedObject(port, home);
    const own = new Set(texts.flatMap((text) => parseAddress(text.trim()) ?? []).map(formatAddress));
    const all = row === undefined || home === undefined ? [] : this.#shown ? this.#addressesShown(row.uuid) : addressesOfPort(row.row);
    const addresses = all.filter((one) => !own.has(formatAddress(one)));
    const key = addresses.length === 0 ? undefined : row?.uuid;
    if (before !== undefined && before !== key) this.#ledger.release('foreign-port', before);
    if (key === undefined || home === undefined) {
      this.#keys.delete(id);
      return;
    }
    // A holder is in one Subnet: in another Subnet it has left the first.
    const gone = row === undefined ? undefined : goneOwner(this.#world, row);
    const claimant = gone === undefined ? `port ${port} of another program` : `port ${port}, which Kube-OVN left`;
    this.#ledger.hold(home, { kind: 'foreign-port', key, claimant }, { addresses }, true);
    this.#keys.set(id, key);
  }

  /** Whether switches of other programs are shown as Subnets. */
  get #shown(): boolean {
    return this.#world.settings.enableExternalVpc;
  }

  #addressesShown(port: Uuid): readonly Address[] {
    const { rows } = this.#world;
    const entry = rows.entry(port);
    return entry === undefined ? [] : addressesShown(rows, entry);
  }

  /** After a change of a router's port or NAT: the switch ports that lead to the router show other addresses. */
  #routerChanged(id: RowId): void {
    const { rows } = this.#world;
    const table = tableOf(id);
    if (table !== 'Logical_Router_Port' && table !== 'NAT' && table !== 'Logical_Router') return;
    for (const end of this.#routerPortsOf(id))
      for (const port of rows.foreignRouters.portsTo(identityOf(end))) {
        const found = rows.entry(port);
        if (found !== undefined) this.#evaluateRowAgain(found.id);
      }
  }

  #routerPortsOf(id: RowId): readonly RowId[] {
    const { rows } = this.#world;
    if (tableOf(id) === 'Logical_Router_Port') return [id];
    const routers =
      tableOf(id) === 'NAT' ? rows.rowsOf(id).flatMap(({ parent }) => (parent && rows.entry(parent.uuid)) ?? []) : rows.rowsOf(id);
    return routers.flatMap(({ row: { ports } }) =>
      ports instanceof Set ? [...(ports as ReadonlySet<Uuid>)].flatMap((port) => rows.entry(port)?.id ?? []) : [],
    );
  }

  /** The addresses in this Subnet of the IP object, Vip or OvnEip that the port is named after. */
  #addressesOfNamedObject(port: string, home: string): readonly string[] {
    const { ips, vips, ovnEips, settings } = this.#world;
    const [ip, eip] = [ips.peek(port), ovnEips.peek(port)];
    const parts = port.split('.');
    const named = parts
      .flatMap((_, at) => vips.peek(parts.slice(0, at + 1).join('.')) ?? [])
      .filter((vip) => this.#portsOf(vip).includes(port));
    const objects = [...named.map(vipAddresses), ...(eip === undefined ? [] : [ovnEipAddresses(eip, settings)])];
    const texts = objects.flatMap(({ subnet, held }) => (held === undefined || subnet !== home ? [] : [held.v4, held.v6]));
    return ip?.spec.subnet === home ? [...heldTexts(ip), ...texts] : texts;
  }

  #portsOf({ metadata: { name }, spec: { namespace = '', subnet = '' } }: Vip): readonly string[] {
    return [name, portName(name, namespace, this.#world.subnets.peek(subnet)?.spec.provider ?? '')];
  }

  /** Ports to evaluate again, since an object of their name changed. */
  #evaluateAgain(ports: readonly string[]): void {
    for (const port of ports) this.#evaluateRowAgain(rowId(PORTS, port));
  }

  /** After a change of a switch's ownership or name: its ports, unchanged themselves, count in another Subnet or in none. */
  #switchChanged(id: RowId): void {
    const { rows } = this.#world;
    const switches = rows.rowsOf(id);
    const now = switches.map((one) => `${one.uuid} ${subnetOfSwitch(one, this.#shown) === undefined ? 'theirs' : 'ours'}`).join();
    if (now === (this.#switches.get(id) ?? '')) return;
    if (switches.length === 0) this.#switches.delete(id);
    else this.#switches.set(id, now);
    for (const one of switches) for (const { id: port } of portsIn(rows, one)) this.#evaluateRowAgain(port);
  }

  /** After its pod or its IP object came or went: a port of Kube-OVN counts while neither exists. */
  holderChanged(port: string): void {
    const id = rowId(PORTS, port);
    if (this.#world.rows.best(id)?.ownership.kind === 'legacy') this.#due(id);
  }

  #evaluateRowAgain(id: RowId): void {
    if (this.#world.rows.best(id)?.ownership.kind === 'foreign') this.#due(id);
  }
}
