/** What must hold on a simulated node: after each change that the agent made, and when everything is quiet. */
import { hostDevice } from '../../../src/agent/world/attachment.ts';
import { portKey } from '../../../src/agent/world/port-keys.ts';
import { podAnnotation } from '../../../src/api/well-known.ts';
import type { Finding } from '../cluster/observer.ts';
import type { Hand, Link } from './kernel.ts';
import { type InterfaceName, PROVIDERS, type Sandbox } from './kubelet.ts';
import { keysOf } from './open-vswitch.ts';
import { FOREIGN_KEY, FOREIGN_MAC } from './other-hands.ts';
import { SETTINGS } from './simulated-agent.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { networkFacts, networkProblems } from './underlay.ts';
import { annotationsOf, RATE, removeAll } from './step.ts';

const STEP_MS = 5_000;
/** A DEL that fails, the backoff, and an ADD that waits for its end. */
const LONGEST_MS = 600_000;
/** All targets list what exists within this time. */
const QUIET_MS = 16_000;
/** The longest delay of a watch that failed. */
const RECONNECT_MS = 31_000;
/** Programs that a killed agent began have ended. */
const SURVIVED_MS = 1_000;
/** A retry is over. */
const MOMENT_MS = 20_000;
/** The Subnet says the MTU; the MAC address is another program's. */
const MAY_CHANGE = new RegExp(` mtu | mac ${FOREIGN_MAC}$`);

export class NodeJudge {
  readonly #node: SimulatedNode;
  readonly #findings: Finding[] = [];
  #foreign: ReadonlyMap<string, string> = new Map();
  #running: ReadonlySet<string> = new Set();
  /** Logical ports of two Interfaces, with the time since when. */
  readonly #twice = new Map<string, number>();

  constructor(node: SimulatedNode) {
    this.#node = node;
    node.looked = (hand, what) => this.#look(hand, what);
    node.removed = ({ id }, one) => {
      const name = hostDevice(id, one);
      const isPort = [...node.vswitch.database.rows('Interface').values()].some((row) => row['name'] === name);
      // What a program of a killed agent still makes, or left without an alias, goes with its namespace.
      const isFresh = node.time.now - node.agentSince < SURVIVED_MS;
      const isLink = !isFresh && (node.kernel.host.links.get(name)?.alias ?? '') !== '';
      if (isPort || isLink) this.#find('removed', `a DEL of ${name} was answered before ${isPort ? 'its port' : 'the link'} was removed`);
    };
  }

  /** What was found since the last call. */
  take(): readonly Finding[] {
    for (const message of this.#node.alarms.splice(0)) this.#find('alarm', message);
    return this.#findings.splice(0);
  }

  /** Ends faults, waits until nothing happens any more, and compares what exists with what should. */
  async converge(empty: boolean): Promise<readonly Finding[]> {
    const node = this.#node;
    const { time, kubelet } = node;
    node.quietly = true;
    if (empty) removeAll(node);
    const since = time.now;
    do await time.runUntil(time.now + STEP_MS);
    while ((!kubelet.isIdle([...node.pods.values()]) || node.agent === undefined || node.asking > 0) && time.now - since < LONGEST_MS);
    await time.runUntil(time.now + RECONNECT_MS + QUIET_MS);
    this.#compare();
    await this.#restart();
    node.quietly = false;
    return this.take();
  }

  #find(kind: string, message: string): void {
    this.#findings.push({ kind, message: `${this.#node.time.now.toFixed(0)} ms: ${message}`, check: kind });
  }

  /** No write of the agent changes what another program made, or takes anything from a pod that runs. */
  #look(hand: Hand, what: string): void {
    const [foreign, running] = [foreignFacts(this.#node), runningFacts(this.#node)];
    if (hand === 'agent') {
      for (const [thing, before] of this.#foreign)
        if (foreign.get(thing) !== before) this.#find('foreign', `${thing} was ${before} and is ${foreign.get(thing) ?? 'gone'}: ${what}`);
      for (const fact of this.#running)
        if (!running.has(fact) && !MAY_CHANGE.test(fact)) this.#find('running', `${fact} was taken away: ${what}`);
    }
    [this.#foreign, this.#running] = [foreign, running];
    this.#lookForTwo();
  }

  /** Of two Interfaces with one logical port ovn-controller binds any. It may happen for a moment, while two writes are under way. */
  #lookForTwo(): void {
    const { vswitch, time } = this.#node;
    const ports = [...vswitch.database.rows('Interface').values()].flatMap((row) => keysOf(row).get(portKey.port) ?? []);
    const twice = new Set(ports.filter((port, at) => ports.indexOf(port) !== at));
    for (const port of this.#twice.keys()) if (!twice.has(port)) this.#twice.delete(port);
    for (const port of twice) {
      const since = this.#twice.get(port) ?? time.now;
      this.#twice.set(port, since);
      if (this.#node.agent !== undefined && time.now - since > MOMENT_MS)
        this.#find('twice', `two Interfaces have the logical port ${port}`);
    }
  }

  #compare(): void {
    const { kubelet, pods, kernel, vswitch, agent } = this.#node;
    const ready = [...kubelet.sandboxes.values()];
    for (const { name, interfaces } of pods.values())
      if (!ready.some(({ state, pod }) => pod.name === name && state === 'ready'))
        this.#find('unready', `pod ${name} (${interfaces.join()}) never ran`);
    for (const { state, pod } of ready) if (state !== 'ready') this.#find('unready', `a sandbox of ${pod.name} is still ${state}`);
    const facts = runningFacts(this.#node);
    for (const sandbox of ready)
      for (const one of sandbox.pod.interfaces)
        for (const fact of expectedFacts(sandbox, one, this.#mtu(one))) if (!facts.has(fact)) this.#find('missing', `${fact} is missing`);
    for (const { id, pod } of ready) {
      const [link, expected] = [kernel.host.links.get(hostDevice(id, 'eth0')), isLimited(this.#node, pod.name) ? 'htb' : 'noqueue'];
      if (link !== undefined && link.queue !== expected) this.#find('queue', `${pod.name} has queue ${link.queue}, not ${expected}`);
    }
    const names = ready.flatMap(({ id, pod }) => pod.interfaces.map((one) => String(hostDevice(id, one)))).toSorted();
    this.#equal(
      'links',
      [...kernel.host.links.values()].filter(({ by, kind }) => by === 'agent' && kind === 'veth').map(({ name }) => name),
      names,
    );
    const rows = [...vswitch.database.rows('Interface')];
    this.#equal(
      'ports',
      rows.filter(([, row]) => keysOf(row).has(portKey.container)).map(([, { name }]) => String(name)),
      names,
    );
    const logical = rows.flatMap(([, row]) => keysOf(row).get(portKey.port) ?? []);
    this.#equal('logical ports', logical, [...new Set(logical)].toSorted());
    this.#equal(
      'attachments in memory',
      [...(agent?.agent.world.attachments.keys() ?? [])],
      ready.flatMap(({ id, pod }) => pod.interfaces.map((one) => `${id}/${one}`)),
    );
    this.#equal('devices in memory', [...(agent?.agent.world.devices.keys() ?? [])], [...names, 'mirror0', 'ovn0']);
    this.#equal(
      'failures in memory',
      [...(agent?.agent.world.failures.entries() ?? [])].map((one) => one.join(': ')),
      [],
    );
    this.#ownNetwork();
    for (const problem of networkProblems(this.#node)) this.#find('network', problem);
  }

  /** Of the node itself. */
  #ownNetwork(): void {
    const { kernel, vswitch } = this.#node;
    const device = kernel.host.links.get('ovn0');
    const shown = device && `${device.mac} ${device.mtu} ${device.up} ${globalAddresses(device).join()}`;
    this.#equal('ovn0', [shown ?? 'absent'], ['00:00:00:01:00:02 1400 true 100.64.0.2/16']);
    const routes = kernel.host.routes.filter(({ dev, proto }) => dev === 'ovn0' && proto !== 'kernel');
    this.#equal(
      'routes',
      routes.map(({ dst, via = '', src = '' }) => `${dst} ${via} ${src}`),
      ['10.16.0.0/16 100.64.0.1 192.0.2.11'],
    );
    const [row] = vswitch.database.rows('Open_vSwitch').values();
    this.#equal('settings', [row === undefined ? '' : (keysOf(row).get('ovn-encap-ip') ?? '')], ['192.0.2.11']);
    const table = kernel.tables.get('inet kiln')?.text ?? '';
    const { spec } = this.#node.lab.store.get('subnets.kubeovn.io', 'ovn-default') as {
      readonly spec?: { readonly natOutgoing?: boolean };
    } & object;
    if (/ip saddr 10\.16\.0\.0\/16 ip daddr != @subnets4 .*masquerade/.test(table) !== (spec?.natOutgoing === true))
      this.#find('missing', `the table of nftables does not translate as the Subnet says: ${table}`);
  }

  /** An agent that starts on a sound node writes nothing, and every interface is as it was. */
  async #restart(): Promise<void> {
    const { time, writes, kubelet } = this.#node;
    writes.splice(0);
    this.#node.killAgent(1);
    await time.runUntil(time.now + QUIET_MS);
    for (const what of writes.splice(0, 3)) this.#find('restart', `a fresh agent wrote: ${what}`);
    for (const sandbox of kubelet.sandboxes.values())
      for (const error of sandbox.state === 'ready' ? await this.#checked(sandbox) : [])
        this.#find('check', `pod ${sandbox.pod.name}: ${error}`);
  }

  async #checked(sandbox: Sandbox): Promise<readonly string[]> {
    const { time, kubelet } = this.#node;
    const checked = kubelet.check(sandbox);
    await time.runUntil(time.now + 100);
    return await checked;
  }

  #mtu(one: InterfaceName): number {
    const subnet = this.#node.lab.store.get('subnets.kubeovn.io', one === 'eth0' ? 'ovn-default' : 'net1');
    return ((subnet?.['spec'] ?? {}) as { readonly mtu?: number }).mtu ?? SETTINGS.mtu;
  }

  #equal(what: string, actual: readonly string[], expected: readonly string[]): void {
    const [is, should] = [actual.toSorted().join(', '), expected.toSorted().join(', ')];
    if (is !== should) this.#find(`wrong ${what}`, `${what}: ${is || 'none'}; expected: ${should || 'none'}`);
  }
}

function globalAddresses({ addresses }: Link): readonly string[] {
  return addresses.filter(({ scope }) => scope === 'global').map(({ text }) => text);
}

/** What other programs made, with how it is. */
function foreignFacts(node: SimulatedNode): ReadonlyMap<string, string> {
  const { kernel, vswitch } = node;
  const facts = new Map<string, string>();
  for (const link of kernel.host.links.values())
    if (link.by === 'other') facts.set(`link ${link.name}`, [link.mac, link.mtu, link.up, link.alias, ...globalAddresses(link)].join(' '));
  for (const route of kernel.host.routes) if (route.by === 'other') facts.set(`route ${JSON.stringify(route)}`, 'there');
  for (const rule of kernel.host.rules) if (rule.by === 'other') facts.set(`rule ${JSON.stringify(rule)}`, 'there');
  for (const [name, { by, text }] of kernel.tables)
    // The agent may accept its own device in a firewall of another program.
    if (by === 'other')
      facts.set(
        `table ${name}`,
        text
          .split('\n')
          .filter((line) => !line.includes('comment "kiln"'))
          .join('\n'),
      );
  for (const table of ['Bridge', 'Port', 'Interface'])
    for (const [uuid, row] of vswitch.database.rows(table)) if (node.handOf(uuid) === 'other') facts.set(`${table} ${uuid}`, rowText(row));
  for (const row of vswitch.database.rows('Open_vSwitch').values())
    for (const [key, value] of keysOf(row)) if (key.startsWith(FOREIGN_KEY) || key === 'hostname') facts.set(`key ${key}`, value);
  return facts;
}

function rowText(row: object): string {
  return JSON.stringify(row, (_key, value: unknown) => (value instanceof Map || value instanceof Set ? [...value] : value));
}

/** What pods that run have. A sandbox whose pod has a later one may lose it. */
function runningFacts(node: SimulatedNode): ReadonlySet<string> {
  const facts = new Set<string>(networkFacts(node));
  const device = node.kernel.host.links.get('ovn0');
  // All pods of the node are reached through it.
  for (const address of device === undefined ? [] : globalAddresses(device)) facts.add(`n1 ovn0: address ${address}`);
  // Without its device the port is worth nothing.
  if (device !== undefined && [...node.vswitch.database.rows('Interface').values()].some(({ name }) => name === 'ovn0'))
    facts.add('n1 ovn0: port');
  for (const sandbox of node.kubelet.sandboxes.values()) {
    const { pod, state } = sandbox;
    if (state !== 'ready' || node.pods.get(pod.name) !== pod || node.kubelet.sandboxesOf(pod).at(-1) !== sandbox) continue;
    for (const one of pod.interfaces) for (const fact of factsOf(node, sandbox, one)) facts.add(fact);
  }
  return facts;
}

function factsOf({ kernel, vswitch }: SimulatedNode, { id, path, pod }: Sandbox, one: InterfaceName): readonly string[] {
  const inside = kernel.namespaces.get(path);
  const [inner, outer] = [inside?.links.get(one), kernel.host.links.get(hostDevice(id, one))];
  if (inside === undefined || inner === undefined || outer === undefined || inner.peer !== outer) return [];
  const of = `${pod.name} ${one} ${id.slice(0, 8)}:`;
  const port = [...vswitch.database.rows('Port')].find(([, { name }]) => name === outer.name);
  const isInBridge = [...vswitch.database.rows('Bridge').values()].some(
    ({ ports, name }) => name === 'br-int' && port !== undefined && hasMember(ports, port[0]),
  );
  const row = [...vswitch.database.rows('Interface').values()].find(({ name }) => name === outer.name);
  // A port that ovs-vswitchd could not open carries nothing, also while its device is back.
  const isOpen = row !== undefined && typeof row['error'] !== 'string';
  return [
    ...(inner.up && outer.up ? [`${of} pair`] : []),
    `${of} mac ${inner.mac}`,
    `${of} mtu ${Math.min(inner.mtu, outer.mtu)}`,
    ...globalAddresses(inner).map((address) => `${of} address ${address}`),
    ...inside.routes.filter(({ dev, via }) => dev === one && via !== undefined).map(({ dst, via }) => `${of} route ${dst} ${via}`),
    ...(isInBridge && isOpen ? [`${of} port`] : []),
    ...(isOpen && keysOf(row).has(portKey.port) ? [`${of} logical port ${keysOf(row).get(portKey.port)}`] : []),
    ...(row !== undefined && keysOf(row).has('ovn-installed') ? [`${of} installed`] : []),
  ];
}

function isLimited({ lab }: SimulatedNode, pod: string): boolean {
  return (lab.store.get('pods', `default/${pod}`)?.metadata.annotations ?? {})[RATE] !== undefined;
}

function hasMember(value: unknown, member: string): boolean {
  return value === member || (value instanceof Set && value.has(member)) || (Array.isArray(value) && value.includes(member));
}

function expectedFacts({ id, pod }: Sandbox, one: InterfaceName, mtu: number): readonly string[] {
  const of = `${pod.name} ${one} ${id.slice(0, 8)}:`;
  const annotations = annotationsOf(pod.name, one);
  const value = (suffix: Parameters<typeof podAnnotation>[1]): string => annotations[podAnnotation(PROVIDERS[one], suffix)] ?? '';
  return [
    `${of} pair`,
    `${of} mac ${value('mac_address')}`,
    `${of} mtu ${mtu}`,
    `${of} address ${value('ip_address')}/16`,
    ...(one === 'eth0' ? [`${of} route 0.0.0.0/0 ${value('gateway')}`] : []),
    `${of} port`,
    `${of} logical port ${pod.name}.default${one === 'eth0' ? '' : `.${PROVIDERS[one]}`}`,
    `${of} installed`,
  ];
}
