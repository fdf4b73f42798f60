/**
 * What ports of other programs in the switch of a Subnet hold, last of all: who has one of their addresses already keeps it. What a port has
 * changes with the port, with the object that it is named after, and with whose the switch is that it is in.
 */
import { portName } from '../api/names.ts';
import type { Vip } from '../api/kinds/vip.ts';
import type { Ledger } from '../ipam/ledger.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId } from '../nb/row-id.ts';
import { ovnEipAddresses, vipAddresses } from '../world/address-objects.ts';
import { heldTexts } from '../world/claimants.ts';
import { addressesOfPort, portsIn, subnetOfSwitch, SWITCHES, switchOfForeign } from '../world/foreign-ports.ts';
import type { World } from '../world/world.ts';

const PORTS = 'Logical_Switch_Port';

export class ForeignPortHolders {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #due: (port: RowId) => void;
  readonly #keys = new Map<RowId, string>();
  /** Of the switches of a name: which they are, and whether each may be a Subnet's. */
  readonly #switches = new Map<RowId, string>();

  /** @param due told the ports that are to be looked at again */
  constructor(world: World, ledger: Ledger, due: (port: RowId) => void) {
    this.#world = world;
    this.#ledger = ledger;
    this.#due = due;
    world.vips.onChange((_, after, before) => {
      for (const vip of [before, after]) if (vip !== undefined) this.#lookAt(this.#portsOf(vip));
    });
    world.ovnEips.onChange((name) => this.#lookAt([name]));
    world.rows.onChange({
      row: (id) => {
        if (id.startsWith(`${SWITCHES}/`)) this.#lookInto(id);
      },
      member: () => undefined,
    });
  }

  /** One by the name of an interface, or of a port of a Vip or an OvnEip, that has the address in this Subnet is its own, without its marks. */
  look(id: RowId, row: ReturnType<World['rows']['best']>): void {
    const before = this.#keys.get(id);
    const home = row === undefined ? undefined : switchOfForeign(this.#world.rows, row);
    if (before === undefined && home === undefined) return;
    const port = identityOf(id);
    const texts = home === undefined ? [] : this.#textsOfNamesake(port, home);
    const own = new Set(texts.flatMap((text) => parseAddress(text.trim()) ?? []).map(formatAddress));
    const addresses = row === undefined || home === undefined ? [] : addressesOfPort(row.row).filter((one) => !own.has(formatAddress(one)));
    const key = addresses.length === 0 ? undefined : row?.uuid;
    if (before !== undefined && before !== key) this.#ledger.release('service', before);
    if (key === undefined || home === undefined) {
      this.#keys.delete(id);
      return;
    }
    // Each is in one Subnet; who says another one now has left the first.
    this.#ledger.hold(home, { kind: 'service', key, claimant: `port ${port} of another program` }, { addresses }, true);
    this.#keys.set(id, key);
  }

  /** What the IP object, the Vip or the OvnEip that a port is named after has in this Subnet. */
  #textsOfNamesake(port: string, home: string): readonly string[] {
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

  /** Whose a port of another program was depends on what the object of its name has. */
  #lookAt(ports: readonly string[]): void {
    for (const port of ports) this.#lookAtRow(rowId(PORTS, port));
  }

  /** A switch that another program took, gave back or named otherwise: its ports are as they were, and what they have counts in another Subnet, or in none. */
  #lookInto(id: RowId): void {
    const { rows } = this.#world;
    const switches = rows.rowsOf(id);
    const now = switches.map((one) => `${one.uuid} ${subnetOfSwitch(one) === undefined ? 'theirs' : 'ours'}`).join();
    if (now === (this.#switches.get(id) ?? '')) return;
    if (switches.length === 0) this.#switches.delete(id);
    else this.#switches.set(id, now);
    for (const one of switches) for (const { id: port } of portsIn(rows, one)) this.#lookAtRow(port);
  }

  #lookAtRow(id: RowId): void {
    if (this.#world.rows.best(id)?.ownership.kind === 'foreign') this.#due(id);
  }
}
