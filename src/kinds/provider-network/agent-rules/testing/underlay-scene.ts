/** A node with the rule of ProviderNetworks alone: what it emits is carried out as Open vSwitch and the kernel would, a line of `ip` at a time. */
import assert from 'node:assert/strict';
import { hostLinkLines } from '../../../../agent/uplink/uplink-commands.ts';
import { HOST_LINK_KINDS, hostLinkId, isBusy } from '../../../../agent/uplink/uplink-target.ts';
import { HOST_LINKS, NodeWorld } from '../../../../agent/world/node-world.ts';
import type { HostLinkOutput, ObjectMetadataOutput, NodeOutput } from '../../../../agent/world/outputs.ts';
import { canonicalCidr } from '../../../../net/cidr.ts';
import { type HostLink, labelOf, takenText, withoutOptions } from '../../../../agent/world/device-network.ts';
import { providerNetworks } from '../provider-networks.ts';

export const SETTINGS = {
  node: 'node-1',
  southbound: '',
  tunnel: 'geneve',
  datapath: 'system',
  defaultVpc: 'ovn-cluster',
  mtu: 1400,
} as const;
export const OWN = {
  addresses: ['172.18.0.2/16 brd 172.18.255.255', 'fd00::2/64'],
  routes: ['0.0.0.0/0 via 172.18.0.1 metric 100', '::/0 via fd00::1'],
};
export const NONE = { addresses: [], routes: [] };
export const BARE: HostLink = { mac: '02:00:00:00:00:01', mtu: 1500, up: true, master: '', ...NONE };

const MOST_ROUNDS = 20;

export class UnderlayScene {
  readonly world = new NodeWorld();
  /** Since Linux 6.2. */
  renamesLive = true;
  /** ovs-vswitchd makes and removes no device. */
  switchIsDead = false;
  deviceType = 'openvswitch';
  /** Lines until the agent dies, with the lines after them of the same call. */
  linesToDeath = Infinity;

  constructor(spec: object = {}) {
    this.world.nodes.set('node-1', { uid: 'n', addresses: [], annotations: {}, labels: { zone: 'a' }, conditions: {} });
    this.network('net1', spec);
    this.world.vlans.set('v10', { providerNetwork: 'net1', tag: 10 });
    this.world.vlans.set('other', { providerNetwork: 'net2', tag: 20 });
    this.world.hostLinks.set('eth1', BARE);
  }

  network(name: string, spec: object = {}, created = '2026'): void {
    this.world.providerNetworks.set(name, { uid: name, created, spec: { defaultInterface: 'eth1', ...spec } });
  }

  outputs(): readonly NodeOutput[] {
    return providerNetworks(SETTINGS).run(this.world, '');
  }

  of<K extends NodeOutput['kind']>(kind: K): readonly Extract<NodeOutput, { kind: K }>[] {
    return this.outputs().filter((output): output is Extract<NodeOutput, { kind: K }> => output.kind === kind);
  }

  /** One text for each output: what would be changed, and how. */
  kinds(): string {
    return this.outputs()
      .filter(({ kind }) => kind !== 'object-metadata' && kind !== 'used-link')
      .map((output) =>
        output.kind === 'move'
          ? `${output.from} to ${output.to}`
          : output.kind === 'bridge-mappings'
            ? Object.entries(output.bridges).join().replace(',', ':')
            : output.kind === 'provider-bridge' || output.kind === 'uplink-port'
              ? output.name
              : output.kind,
      )
      .join(' | ');
  }

  /** Makes all that the rule emits for bridge, port and mapping observed. */
  carryOut(): void {
    const { world } = this;
    const [bridges, ports, [mapping]] = [this.of('provider-bridge'), this.of('uplink-port'), this.of('bridge-mappings')];
    for (const [name, { foreign }] of [...world.bridges.entries()])
      if (foreign !== true && bridges.every((one) => one.name !== name)) {
        world.bridges.delete(name);
        if (!this.switchIsDead && ['openvswitch', 'tun'].includes(this.link(name).type ?? '')) this.#remove(name);
      }
    for (const { name, network, externalIds, datapathType } of bridges) {
      // A conflict: see `bridgeConflict`.
      if (world.bridges.peek(name)?.foreign === true) continue;
      const kept = world.bridges.peek(name)?.externalIds ?? {};
      world.bridges.set(name, {
        datapathType,
        externalIds: { ...kept, vendor: 'kube-ovn', 'kiln.io/provider-network': network, ...externalIds },
      });
      if (!world.hostLinks.has(name) && !this.switchIsDead) world.hostLinks.set(name, { ...BARE, type: this.deviceType, up: false });
    }
    for (const [name] of [...world.ports.entries()]) if (ports.every((one) => one.name !== name)) world.ports.delete(name);
    for (const { name, network } of ports)
      world.ports.set(name, { externalIds: { vendor: 'kube-ovn', 'kiln.io/provider-network': network }, error: '' });
    const mapped = Object.entries(mapping?.bridges ?? {}).map((pair) => pair.join(':'));
    const [own, all] = ['kiln.io/bridge-mappings', 'ovn-bridge-mappings'].map((key) =>
      (world.settings.peek(key) ?? '').split(',').filter((entry) => entry !== ''),
    ) as [string[], string[]];
    const others = all.filter((entry) => !own.includes(entry));
    world.settings.set('ovn-bridge-mappings', [...others, ...mapped].join());
    world.settings.set('kiln.io/bridge-mappings', mapped.join());
    if (Object.keys(mapping?.taken ?? {}).length === 0) world.settings.delete('kiln.io/taken-interfaces');
    else world.settings.set('kiln.io/taken-interfaces', takenText(mapping?.taken ?? {}));
  }

  link(name: string): HostLink {
    return this.world.hostLinks.get(name) ?? BARE;
  }

  /** The lines that are due. */
  lines(): readonly string[] {
    return this.#hostLinks().flatMap((output) => this.#linesOf(output));
  }

  /**
   * All of it, until nothing is due. The agent dies once, after `linesToDeath` lines, and the next one sees what there is then.
   * @returns the lines, as they were run
   */
  settle(): readonly string[] {
    const ran: string[] = [];
    for (let round = 0; round < MOST_ROUNDS; round++) {
      this.carryOut();
      const due = this.#hostLinks().find((output) => this.#linesOf(output).length > 0);
      if (due === undefined) {
        const before = JSON.stringify(this.outputs());
        this.carryOut();
        if (JSON.stringify(this.outputs()) === before && this.lines().length === 0) return ran;
        continue;
      }
      const lines = this.#linesOf(due);
      const left = this.linesToDeath;
      this.linesToDeath -= lines.length;
      const cut = left < lines.length ? lines.slice(0, Math.max(0, left)) : lines;
      if (left < lines.length) this.linesToDeath = Infinity;
      const id = hostLinkId(due);
      try {
        this.world.failures.delete(id);
        this.run(cut);
        ran.push(...cut);
      } catch (error) {
        this.world.failures.set(id, String(error));
      }
    }
    throw new assert.AssertionError({ message: `no rest: ${this.kinds()}\n${ran.join('\n')}` });
  }

  /** Runs the lines that are due; what they did is observed only after `meanwhile`. */
  overlap(meanwhile: () => void): void {
    const { hostLinks, bridges, outdated } = this.world;
    const due = this.#hostLinks().find((output) => this.#linesOf(output).length > 0);
    const before = [...hostLinks.entries()];
    if (due !== undefined) this.run(this.#linesOf(due));
    const after = [...hostLinks.entries()];
    this.#show(before);
    outdated.set(HOST_LINKS, true);
    meanwhile();
    // A bridge that went or came meanwhile took its device with it, with all that was on it, or brought it.
    const isGone = (name: string, { type = '' }: HostLink): boolean => ['openvswitch', 'tun'].includes(type) && !bridges.has(name);
    const left = after.filter(([name, link]) => !isGone(name, link));
    for (const [name, { addresses }] of after)
      assert.ok(addresses.length === 0 || left.some(([one]) => one === name), `bridge ${name} went with ${addresses.join()}`);
    const known = new Set([...before, ...after].map(([name]) => name));
    left.push(...[...hostLinks.entries()].filter(([name]) => !known.has(name)));
    this.#show(left);
    outdated.delete(HOST_LINKS);
  }

  #show(links: readonly (readonly [string, HostLink])[]): void {
    const { hostLinks } = this.world;
    for (const name of [...hostLinks.keys()]) hostLinks.delete(name);
    for (const [name, link] of links) hostLinks.set(name, link);
  }

  /** Runs lines as the kernel would. @throws Error with what `ip` prints */
  run(lines: readonly string[]): void {
    for (const line of lines) this.#run(line);
  }

  state(): ObjectMetadataOutput {
    const found = this.of('object-metadata');
    assert.ok(found.length <= 1);
    return found[0] ?? { kind: 'object-metadata', resource: 'nodes', name: '', annotations: {}, labels: {} };
  }

  #hostLinks(): readonly HostLinkOutput[] {
    return this.outputs().filter((output): output is HostLinkOutput => (HOST_LINK_KINDS as readonly string[]).includes(output.kind));
  }

  #linesOf(output: HostLinkOutput): readonly string[] {
    return hostLinkLines(output, new Map(this.world.hostLinks.entries()), isBusy(this.world.failures.peek(hostLinkId(output))));
  }

  #run(line: string): void {
    const { hostLinks } = this.world;
    const after = (word: string): string => new RegExp(`(?:^| )${word} (\\S+)`).exec(line)?.[1] ?? '';
    if (line.startsWith('link add')) {
      const [, parent = '', name = ''] = /^link add link (\S+) name (\S+) /.exec(line) ?? [];
      assert.ok(!hostLinks.has(name), `${line}: File exists`);
      const below = this.link(parent);
      const [mac, mtu] = [after('address') || below.mac, Number(after('mtu') || below.mtu)];
      hostLinks.set(name, { ...BARE, type: 'vlan', up: false, mac, mtu, vlan: { parent, tag: Number(after('id')) } });
      return;
    }
    const device = after('dev');
    assert.ok(hostLinks.has(device), `${line}: Cannot find device`);
    const link = this.link(device);
    const set = (more: Partial<HostLink>): void => {
      hostLinks.set(device, { ...link, ...more });
    };
    const what = line.replace(/^(?:address (?:add|replace|delete)|route (?:replace|delete)) /, '').replace(/ dev \S+( nodad)?$/, '');
    if (line === `link set dev ${device} up`) set({ up: true });
    else if (line === `link set dev ${device} down`) set({ up: false, routes: [], addresses: link.addresses.filter((one) => !isSix(one)) });
    else if (line.startsWith('link set') && after('name') !== '') {
      if (link.up && !this.renamesLive) throw new Error('RTNETLINK answers: Device or resource busy');
      assert.ok(!hostLinks.has(after('name')), `${line}: File exists`);
      hostLinks.delete(device);
      hostLinks.set(after('name'), { ...link, addresses: relabelled(link.addresses) });
      for (const [name, other] of [...hostLinks.entries()])
        if (other.vlan?.parent === device) hostLinks.set(name, { ...other, vlan: { ...other.vlan, parent: after('name') } });
    } else if (line.startsWith('link set') && after('alias') !== '') set({ alias: after('alias') });
    else if (line.startsWith('link delete')) {
      if (link.type === 'openvswitch') throw new Error('RTNETLINK answers: Operation not supported');
      this.#remove(device);
    } else if (/^address (?:add|replace)/.test(line)) {
      assert.ok(link.up || !isSix(what));
      const label = after('label');
      assert.ok(label === '' || label.startsWith(`${device}:`), `${line}: "dev" must match "label".`);
      const shown = what.replace(` label ${device}`, ' label ');
      if (!link.addresses.some((one) => withoutOptions(one) === withoutOptions(what))) set({ addresses: added(link.addresses, shown) });
    } else if (line.startsWith('address delete')) {
      const present = link.addresses.some((one) => withoutOptions(one) === what);
      assert.ok(present, `${line}: Cannot assign requested address`);
      set({ addresses: removed(link.addresses, what) });
    } else if (line.startsWith('route replace')) {
      assert.ok(link.up, `${line}: Network is down`);
      for (const [name, other] of [...hostLinks.entries()])
        hostLinks.set(name, { ...other, routes: other.routes.filter((route) => route !== what) });
      const now = this.link(device);
      hostLinks.set(device, { ...now, routes: [...now.routes, what].toSorted() });
    } else if (line.startsWith('route delete')) set({ routes: link.routes.filter((one) => one !== what) });
    else assert.fail(line);
  }

  #remove(device: string): void {
    this.world.hostLinks.delete(device);
    for (const [name, { vlan }] of [...this.world.hostLinks.entries()]) if (vlan?.parent === device) this.world.hostLinks.delete(name);
  }
}

function isSix(address: string): boolean {
  return withoutOptions(address).includes(':');
}

/** The first one of its network is primary, and comes before those that are not. */
function isPrimary(address: string, addresses: readonly string[]): boolean {
  const network = canonicalCidr(withoutOptions(address));
  return addresses.find((one) => canonicalCidr(withoutOptions(one)) === network) === address;
}

function added(addresses: readonly string[], address: string): readonly string[] {
  const [four, six] = [addresses.filter((one) => !isSix(one)), addresses.filter(isSix)];
  if (isSix(address)) return [...addresses, address];
  const all = [...four, address];
  return [...all.filter((one) => isPrimary(one, all)), ...all.filter((one) => !isPrimary(one, all)), ...six];
}

/** The kernel promotes no secondary address, unless it is told to: they go with their primary one. */
function removed(addresses: readonly string[], address: string): readonly string[] {
  const [network, found] = [canonicalCidr(address), addresses.find((one) => withoutOptions(one) === address) ?? ''];
  const goes = (one: string): boolean =>
    one === found || (!isSix(found) && isPrimary(found, addresses) && canonicalCidr(withoutOptions(one)) === network);
  return addresses.filter((one) => !goes(one));
}

/** As the kernel labels the addresses of a device that gets another name. */
function relabelled(addresses: readonly string[]): readonly string[] {
  return addresses.map((address, at) => {
    if (isSix(address)) return address;
    const plain = address.replace(/ label \S+/, '');
    return at === 0 ? plain : `${plain} label ${labelOf(address) || `:${at + 1}`}`;
  });
}

/** Addresses and routes alone. */
export function networkOf({ addresses, routes }: HostLink): object {
  return { addresses, routes };
}
