/**
 * Records in the ledger what holds an address: IP objects, Vips, EIPs and the rules that use one, proven annotations of live pods, owned
 * port rows, foreign ports in the switch of a Subnet, and nodes in its physical network. The allocation step records reservations.
 */
import type { Pod } from '../api/kubernetes/core.ts';
import type { IP } from '../api/kinds/ip.ts';
import { isAlive, deadNodeDeadline, machineNameOf, ordinalOf } from '../compile/pod/view/pod-life.ts';
import type { Holder } from '../ipam/holder.ts';
import type { Ledger } from '../ipam/ledger.ts';
import { formatAddress, parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { parseMac } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId, tableOf } from '../nb/row-id.ts';
import type { AddressObject } from '../world/address-objects.ts';
import { allocatedSubnets } from '../world/allocated-subnets.ts';
import { covers, proofsOf, provenOf } from '../kinds/pod/table/binding-proof.ts';
import { ADDRESS_RESOURCES, claimantOfObject, claimantOfOwner, hasRouterMac, vipSharingGroup } from '../world/address-objects.ts';
import { claimantOfIp, claimantOfPort, heldTexts, ipSharingGroup } from '../world/claimants.ts';
import type { NatRule, NatRuleResource } from '../world/nat-rules.ts';
import { eipKindOf, heldByRule, NAT_RULES } from '../world/nat-rules.ts';
import { annotationKey, kilnAnnotation } from '../api/well-known.ts';
import { portName } from '../api/names.ts';
import { keyOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { ForeignPortHolders } from './foreign-port-holders.ts';
import { holdNodeAddresses } from './node-address-holders.ts';

const ALLOCATED = '.kubernetes.io/allocated';
const PORTS = 'Logical_Switch_Port';

/** Called with an interface that has addresses; the MAC is empty if it has none. */
type OnInterface = (claimant: string, subnet: string, addresses: readonly Address[], mac: string) => void;

export class Holders {
  readonly #world: World;
  readonly #ledger: Ledger;
  /** Holder keys of a pod by its uid, to release what the pod no longer has. */
  readonly #podHolders = new Map<string, readonly string[]>();
  /** By terminating pod with addresses on a dead node: when it stops holding them, in milliseconds since the epoch. */
  readonly #leaving = new Map<string, number>();
  /** A lower bound of these deadlines. */
  #nextLeaving = Infinity;
  readonly #rowHolders = new Map<RowId, string>();
  readonly #foreignPorts: ForeignPortHolders;
  readonly #duePods = new Set<string>();
  readonly #dueRows = new Set<RowId>();

  constructor(world: World, ledger: Ledger) {
    this.#world = world;
    this.#ledger = ledger;
    this.#foreignPorts = new ForeignPortHolders(world, ledger, (port) => void this.#dueRows.add(port));
    holdNodeAddresses(world, ledger);
    world.ips.onChange((key, after, before) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) ledger.release('ip', before.metadata.uid);
      if (before === undefined || after === undefined) this.#foreignPorts.holderChanged(key);
      if (after !== undefined) this.#holdIp(after);
      this.#ipChanged(key, after, before);
    });
    world.pods.onChange((key, after, before) => {
      if (before !== undefined && before.metadata.uid !== after?.metadata.uid) this.#releasePod(before.metadata.uid);
      if (before === undefined || after === undefined) this.#foreignPorts.holderChanged(key.split('/').toReversed().join('.'));
      if (after === undefined) {
        this.#leaving.delete(key);
        return;
      }
      this.#duePods.add(key);
      // A row may be observed before its pod, and only the pod shows whether its claim outlives it.
      if (before?.metadata.uid !== after.metadata.uid) for (const id of world.rows.ownedBy(`pod/${key}`)) this.#dueRows.add(id);
    });
    for (const resource of ADDRESS_RESOURCES)
      world
        .addressTable(resource)
        .onChange((_, after, before) => this.#watchObject(before?.metadata.uid, after && world.asAddressObject(resource, after)));
    for (const resource of NAT_RULES) {
      world.natRules[resource].onChange((_, after, before) => {
        if (before !== undefined && before.metadata.uid !== after?.metadata.uid) ledger.release('eip', ruleKey(before));
        if (after !== undefined) this.#holdRule(resource, after);
      });
    }
    world.rows.onChange({
      row: (id) => {
        if (tableOf(id) !== PORTS) return;
        this.#dueRows.add(id);
        // The row may prove the annotations of its pod.
        const port = identityOf(id);
        this.#claimingPods(port, world.ips.peek(port), (key) => this.#duePods.add(key));
      },
      member: () => undefined,
    });
  }

  /** Whether a change is not recorded yet. */
  get due(): boolean {
    return this.#duePods.size + this.#dueRows.size > 0;
  }

  /**
   * Brings the ledger up to date with the World. A pod, its IP object and its row change together and depend on each other, so each is
   * evaluated once here and not at every change.
   * @param onInterface called with each interface of a live pod whose annotations are proven
   * @returns false if `enough()` interrupted it
   */
  recordChanges(enough: () => boolean = () => false, onInterface?: OnInterface): boolean {
    this.#expire();
    for (const key of this.#duePods) {
      if (enough()) return false;
      this.#duePods.delete(key);
      const pod = this.#world.pods.peek(key);
      if (pod !== undefined) this.#holdPod(pod, onInterface);
    }
    for (const id of this.#dueRows) {
      if (enough()) return false;
      this.#dueRows.delete(id);
      this.#holdRow(id);
    }
    return true;
  }

  #watchObject(before: string | undefined, after: AddressObject | undefined): void {
    if (before !== undefined && before !== after?.uid) for (const kind of ['vip', 'eip'] as const) this.#ledger.release(kind, before);
    if (after !== undefined) this.#holdObject(after);
  }

  /** A Vip shares its address with the pod that uses it as its own. */
  #holdObject({ kind, name, uid, created, subnet, held, type, sharingGroup }: AddressObject): void {
    const holder = sharingGroup === undefined ? 'eip' : 'vip';
    if (held === undefined || subnet === '') {
      this.#ledger.release(holder, uid);
      return;
    }
    const mac = hasRouterMac(type) ? undefined : held.mac;
    this.#hold(
      subnet,
      { kind: holder, key: uid, claimant: claimantOfObject(kind, name), rank: Date.parse(created), ...inSharingGroup(sharingGroup) },
      parsed([held.v4, held.v6]),
      mac,
    );
  }

  /** A rule holds the address of its EIP, recorded in its annotations, while it names that EIP. */
  #holdRule(resource: NatRuleResource, rule: NatRule): void {
    const held = heldByRule(rule);
    if (held === undefined) {
      this.#ledger.release('eip', ruleKey(rule));
      return;
    }
    const { eip, subnet, addresses } = held;
    const claimant = claimantOfObject(eipKindOf(resource), eip);
    this.#hold(
      subnet,
      { kind: 'eip', key: ruleKey(rule), claimant, rank: Date.parse(rule.metadata.creationTimestamp) },
      parsed(addresses),
      undefined,
    );
  }

  #holdIp(ip: IP): void {
    const { subnet, macAddress } = ip.spec;
    const addresses = parsed(heldTexts(ip));
    if (subnet === undefined || subnet === '' || addresses.length === 0) {
      this.#ledger.release('ip', ip.metadata.uid);
      return;
    }
    this.#hold(
      subnet,
      {
        kind: 'ip',
        key: ip.metadata.uid,
        claimant: claimantOfIp(ip),
        rank: Date.parse(ip.metadata.creationTimestamp),
        ...inSharingGroup(ipSharingGroup(ip)),
      },
      addresses,
      macAddress,
    );
  }

  /** A live pod holds the addresses of its proven annotations. Unproven annotations are only requests. */
  #holdPod(pod: Pod, onInterface: OnInterface | undefined): void {
    const { uid, name, namespace = '', annotations = {}, creationTimestamp } = pod.metadata;
    const held: string[] = [];
    if (isAlive(pod, (deadline) => this.#world.deadlines.passed(deadline))) {
      for (const key of Object.keys(annotations)) {
        if (!key.endsWith(ALLOCATED) || annotations[key] !== 'true') continue;
        const provider = key.slice(0, -ALLOCATED.length);
        const subnet = annotations[`${provider}.kubernetes.io/logical_switch`];
        const addresses = parsed(splitList(annotations[`${provider}.kubernetes.io/ip_address`] ?? ''));
        if (subnet === undefined || addresses.length === 0) continue;
        const mac = annotations[`${provider}.kubernetes.io/mac_address`];
        const machine = machineNameOf(pod, this.#world.settings);
        const claimed = provenOf(subnet, addresses.map(formatAddress), mac ?? '');
        const proofs = claimed === undefined ? [] : proofsOf(this.#world, { namespace, name, uid, machine }, provider, claimed);
        if (claimed === undefined || !proofs.some((proof) => covers(proof, claimed))) continue;
        const port = portName(machine ?? name, namespace, provider);
        const claimant = claimantOfPort(port, this.#world.ips.peek(port), uid, this.#retainsAddress(pod));
        const [vip] = splitList(annotations[annotationKey.vip] ?? '');
        const holder = `${uid}/${provider}`;
        this.#hold(
          subnet,
          {
            kind: 'pod',
            key: holder,
            claimant,
            rank: Date.parse(creationTimestamp),
            ...inSharingGroup(vip === undefined ? undefined : vipSharingGroup(vip)),
          },
          addresses,
          mac,
        );
        onInterface?.(claimant, subnet, addresses, mac ?? '');
        held.push(holder);
      }
    }
    for (const key of this.#podHolders.get(uid) ?? []) if (!held.includes(key)) this.#ledger.release('pod', key);
    if (held.length > 0) this.#podHolders.set(uid, held.slice());
    else this.#podHolders.delete(uid);
    const leaves = held.length > 0 ? deadNodeDeadline(pod) : undefined;
    if (leaves === undefined) this.#leaving.delete(keyOf(pod));
    else {
      this.#leaving.set(keyOf(pod), leaves);
      this.#nextLeaving = Math.min(this.#nextLeaving, leaves);
    }
  }

  /** A pod on a dead node stops holding its addresses at its deadline, without an event. */
  #expire(): void {
    const { deadlines } = this.#world;
    if (this.#nextLeaving === Infinity || !deadlines.passed(this.#nextLeaving)) return;
    this.#nextLeaving = Infinity;
    for (const [key, leaves] of this.#leaving) {
      if (!deadlines.passed(leaves)) {
        this.#nextLeaving = Math.min(this.#nextLeaving, leaves);
        continue;
      }
      this.#leaving.delete(key);
      this.#duePods.add(key);
    }
  }

  #releasePod(uid: string): void {
    for (const key of this.#podHolders.get(uid) ?? []) this.#ledger.release('pod', key);
    this.#podHolders.delete(uid);
  }

  #holdRow(id: RowId): void {
    const row = this.#world.rows.best(id);
    this.#foreignPorts.record(id, row);
    const before = this.#rowHolders.get(id);
    const port = identityOf(id);
    const addresses: Address[] = [];
    let mac: string | undefined;
    if (row?.ownership.kind === 'ours' && row.row.type === '' && row.row.addresses instanceof Set) {
      for (const entry of row.row.addresses) {
        const [first, ...rest] = String(entry).split(' ');
        mac ??= first;
        addresses.push(...parsed(rest));
      }
    }
    const key = row === undefined || addresses.length === 0 ? undefined : row.uuid;
    if (before !== undefined && before !== key) this.#ledger.release('row', before);
    if (key === undefined || row?.ownership.kind !== 'ours') {
      this.#rowHolders.delete(id);
      return;
    }
    const externalIds = row.row.external_ids;
    const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
    if (typeof subnet !== 'string') {
      this.#ledger.release('row', key);
      this.#rowHolders.delete(id);
      return;
    }
    const ofObject = claimantOfOwner(row.ownership.owner);
    if (ofObject !== undefined) {
      // The object, or the router, holds the MAC.
      this.#hold(subnet, { kind: 'row', key, claimant: ofObject }, addresses, undefined);
      this.#rowHolders.set(id, key);
      return;
    }
    const pod = podNamed(row.ownership.owner);
    const owner = pod === undefined ? undefined : this.#world.pods.peek(pod);
    const claimant = claimantOfPort(
      port,
      this.#world.ips.peek(port),
      pod === undefined ? undefined : row.ownership.uid,
      owner !== undefined && this.#retainsAddress(owner),
    );
    this.#hold(subnet, { kind: 'row', key, claimant }, addresses, mac);
    this.#rowHolders.set(id, key);
  }

  /** Pods that may have an interface with this port name and whose annotations name addresses. */
  #claimingPods(port: string, ip: IP | undefined, then: (key: string) => void): void {
    const { pods } = this.#world;
    for (const named of ip === undefined ? podKeysByName(port) : podKeysOf(port, ip)) {
      for (const key of [named, ...pods.peekBucket('instance', named)]) {
        const annotations = pods.peek(key)?.metadata.annotations;
        if (annotations !== undefined && allocatedSubnets(annotations).length > 0) then(key);
      }
    }
  }

  /**
   * An IP object may prove the annotations of its pod, and may change the claimant of pod and row: only then are these evaluated again.
   */
  #ipChanged(port: string, after: IP | undefined, before: IP | undefined): void {
    const { pods, rows } = this.#world;
    const differs = (uid: string | undefined, retainsAddress: boolean): boolean =>
      claimantOfPort(port, before, uid, retainsAddress) !== claimantOfPort(port, after, uid, retainsAddress);
    const look = (key: string): void => {
      const pod = pods.peek(key);
      if (pod !== undefined && differs(pod.metadata.uid, this.#retainsAddress(pod))) this.#duePods.add(key);
    };
    if (proofText(before) !== proofText(after)) this.#claimingPods(port, after ?? before, (key) => this.#duePods.add(key));
    for (const key of podKeysOf(port, after ?? before)) {
      look(key);
      for (const one of pods.peekBucket('instance', key)) look(one);
    }
    const id = rowId(PORTS, port);
    const ownership = rows.best(id)?.ownership;
    if (ownership === undefined) return;
    const pod = ownership.kind === 'ours' ? podNamed(ownership.owner) : undefined;
    const owner = pod === undefined ? undefined : pods.peek(pod);
    // A foreign port may be one that lost its ownership keys: that depends on all fields of the IP object.
    if (
      ownership.kind !== 'ours' ||
      differs(pod === undefined ? undefined : ownership.uid, owner !== undefined && this.#retainsAddress(owner))
    )
      this.#dueRows.add(id);
  }

  /** Whether the pod's addresses outlive it. */
  #retainsAddress(pod: Pod): boolean {
    return ordinalOf(pod) !== undefined || machineNameOf(pod, this.#world.settings) !== undefined;
  }

  #hold(subnet: string, holder: Holder, addresses: readonly Address[], macText: string | undefined): void {
    const mac: Mac | undefined = macText === undefined || macText === '' ? undefined : parseMac(macText);
    // A holder is in one Subnet: in another Subnet it has left the first.
    this.#ledger.hold(subnet, holder, { addresses, ...(mac === undefined ? {} : { mac }) }, true);
  }
}

/** The fields of an IP object that prove annotations. */
function proofText(ip: IP | undefined): string {
  if (ip === undefined) return '';
  const { podName, namespace, podType, subnet, macAddress } = ip.spec;
  return [ip.metadata.annotations?.[kilnAnnotation.podUid], podName, namespace, podType, subnet, macAddress, ...heldTexts(ip)].join(' ');
}

/** Possible keys of the pod or virtual machine of a port: from the IP object; any that fit the name if the IP object names another one. */
function podKeysOf(port: string, ip: IP | undefined): readonly string[] {
  if (ip === undefined) return [];
  const { namespace = '', podName = '' } = ip.spec;
  const named = `${namespace}/${podName}`;
  if (port.startsWith(`${podName}.${namespace}`)) return [named];
  return [named, ...podKeysByName(port)];
}

function podKeysByName(port: string): readonly string[] {
  const parts = port.split('.');
  return parts.slice(1).map((space, at) => `${space}/${parts.slice(0, at + 1).join('.')}`);
}

/** Key of the pod in an owner text; undefined for other kinds. */
function podNamed(owner: string): string | undefined {
  return owner.startsWith('pod/') ? owner.slice('pod/'.length) : undefined;
}

function ruleKey({ metadata }: NatRule): string {
  return `rule/${metadata.uid}`;
}

function inSharingGroup(sharingGroup: string | undefined): Pick<Holder, 'sharingGroup'> {
  return sharingGroup === undefined ? {} : { sharingGroup };
}

function parsed(texts: readonly string[]): Address[] {
  return texts.flatMap((text) => parseAddress(text.trim()) ?? []);
}
