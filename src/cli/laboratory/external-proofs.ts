/**
 * The proofs of `kiln start --check` about external networks: a third tenant whose rules translate, by ovn-trace and where possible by packets;
 * its gateway node dies under traffic; and without the rules nothing is translated.
 */
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { annotationKey, FINALIZER, labelKey } from '../../api/well-known.ts';
import type { DemoObject } from './demo.ts';
import { DEMO_PODS, NAMESPACES, SUBNETS, VPCS } from './demo.ts';
import * as tenant from './external-tenant.ts';
import type { Laboratory } from './laboratory.ts';
import { until } from './packet-proofs.ts';

type Prove = (what: string, proof: () => Promise<string>) => Promise<void>;
type Packets = NonNullable<Laboratory['packets']>;
type PacketNode = Packets['nodes'][number];
type Namespace = Packets['underlay']['namespace'];

type Observed = KubeObject & {
  readonly metadata: KubeObject['metadata'] & {
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: {
    readonly phase?: string;
    readonly ready?: boolean;
    readonly enableExternal?: boolean;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
};

interface Located {
  readonly port: string;
  readonly ip: string;
  readonly mac: string;
}

interface Flow {
  readonly from: Located;
  readonly to: string;
  /** Without it an echo request. */
  readonly tcp?: string;
  /** It belongs to a connection that the receiver began. */
  readonly reply?: true;
}

const { ADDRESSES, PORT, TENANT, EXTERNAL, INSIDE } = tenant;
const GATEWAY_LABEL = labelKey.externalGateway;
const CHASSIS = annotationKey.chassis;

export class ExternalProofs {
  readonly #lab: Laboratory;
  readonly #prove: Prove;
  readonly #pods = new Map<string, Located>();
  readonly #stops: (() => Promise<unknown>)[] = [];
  #outside: Namespace | undefined;

  constructor(lab: Laboratory, prove: Prove) {
    this.#lab = lab;
    this.#prove = prove;
  }

  async run(): Promise<void> {
    await this.#prove(`${TENANT}: a Vpc with an external network: EIPs, and a rule of each kind for them`, () => this.#make());
    await this.#prove(`${TENANT}: what each rule translates, in both directions`, () => this.#traces());
    const { packets } = this.#lab;
    if (packets === undefined) return;
    await this.#prove(`by packets: ${TENANT}: a host outside reaches pods by their EIPs, and sees the EIP of outgoing traffic`, () =>
      this.#packets(packets),
    );
    if (packets.nodes.length > 1)
      await this.#prove(`by packets: ${TENANT}: the gateway node dies under traffic, which goes on through the next`, () =>
        this.#failover(packets),
      );
  }

  /** Deletes all of it, in the worst order. */
  async remove(): Promise<void> {
    try {
      await this.#prove(
        `${TENANT}: deletion of Vpc, Subnets and EIPs: they wait for the rules, and without these nothing is translated`,
        () => this.#delete(),
      );
    } finally {
      for (const stop of this.#stops.toReversed()) await stop();
    }
  }

  async #make(): Promise<string> {
    const { client, ovn, packets } = this.#lab;
    if (packets !== undefined) {
      for (const { node } of packets.nodes) await packets.underlay.connect(node.namespace, tenant.INTERFACE);
      const outside = await packets.underlay.addOutsideHost(`${tenant.OUTSIDE}/24`);
      this.#outside = outside;
      this.#stops.push(() => outside.delete());
      await outside.run('nft', SEEN);
    }
    for (const { metadata } of await client.listAll<Observed>(tenant.LAB_NODES)) {
      const { name, annotations = {} } = metadata;
      // Without packets there is no agent that would write it.
      const chassis = annotations[CHASSIS] === undefined ? `chassis-of-${name}` : undefined;
      await this.#annotate(name, { [GATEWAY_LABEL]: 'true' }, chassis === undefined ? {} : { [CHASSIS]: chassis });
      this.#stops.push(() => this.#annotate(name, { [GATEWAY_LABEL]: null }, chassis === undefined ? {} : { [CHASSIS]: null }));
    }
    await this.#create(tenant.networkObjects());
    await until(`Vpc ${TENANT} is connected to its external network`, async () => {
      const { status } = await client.get<Observed>(VPCS, { name: TENANT });
      return status?.enableExternal === true;
    });
    if (packets !== undefined)
      await until('the external network is ready on every node', async () => {
        const { status } = await client.get<Observed>(tenant.PROVIDER_NETWORKS, { name: TENANT });
        return status?.ready === true;
      });
    const gateway = packets === undefined ? undefined : await this.#gateway(packets);
    const place = packets?.nodes.find((one) => one !== gateway) ?? gateway;
    await this.#create(tenant.podObjects(place?.node.name));
    await this.#create(tenant.eipObjects());
    await this.#create(tenant.ruleObjects());
    for (const pod of [...tenant.TENANT_PODS, tenant.BEYOND_POD]) {
      await until(`pod ${pod.namespace}/${pod.name} runs`, async () => {
        const { metadata, status } = await client.get<Observed>(DEMO_PODS, pod);
        const said = (key: string): string => metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
        this.#pods.set(pod.name, { port: `${pod.name}.${pod.namespace}`, ip: said('ip_address'), mac: said('mac_address') });
        return status?.phase === 'Running';
      });
    }
    for (const { resource, object } of tenant.ruleObjects())
      await until(`${resource.kind} ${object.metadata.name} is ready`, async () => {
        return (await client.get<Observed>(resource, object.metadata)).status?.ready === true;
      });
    await ovn.nbctl('--wait=sb', 'sync');
    return `${tenant.eipObjects().length} EIPs and ${tenant.ruleObjects().length} rules are ready`;
  }

  async #traces(): Promise<string> {
    const [fip, near, plain, host] = ['fip', 'near', 'plain', 'host'].map((name) => this.#pod(name)) as [
      Located,
      Located,
      Located,
      Located,
    ];
    const echo = async (from: Located, to: string, arrives: Located, shows?: string): Promise<void> =>
      await this.#translated({ from, to }, arrives, shows);
    await echo(host, ADDRESSES.central, fip);
    await echo(fip, host.ip, host, snat(ADDRESSES.central));
    await echo(host, ADDRESSES.distributed, near);
    await echo(near, host.ip, host, `ip4.src=${ADDRESSES.distributed}`);
    await echo(plain, host.ip, host, snat(ADDRESSES.shared));
    await this.#translated({ from: host, to: ADDRESSES.shared, tcp: `tcp.dst == ${PORT.external}` }, fip);
    // Answers: OVN looks for the connection that they belong to, and ovn-trace has none.
    for (const [flow, action] of [
      [{ from: host, to: ADDRESSES.shared, tcp: 'tcp.dst == 40000', reply: true }, /ct_snat/],
      [{ from: fip, to: host.ip, tcp: `tcp.src == ${PORT.internal}`, reply: true }, /ct_dnat/],
    ] as const)
      if (!action.test(await this.#trace(flow))) throw new Error(`an answer from ${flow.from.port} to ${flow.to} is not translated back`);
    return '8 paths traced';
  }

  /** A packet arrives at a port, and its trace shows an action; without a port it arrives nowhere. */
  async #translated(flow: Flow, arrives: Located | undefined, shows?: string): Promise<void> {
    const trace = await this.#trace(flow);
    const ports = [...trace.matchAll(/output\("([^"]+)"\)/g)].map(([, port]) => port ?? '');
    const what = `a packet from ${flow.from.port} to ${flow.to}`;
    // A router that does not know an address asks for it where the packet came from.
    const names = [...tenant.TENANT_PODS, tenant.BEYOND_POD]
      .map(({ name, namespace }) => `${name}.${namespace}`)
      .filter((port) => port !== flow.from.port && ports.includes(port))
      .join(', ');
    if (names !== (arrives?.port ?? ''))
      throw new Error(`${what} arrives at: ${names || 'no pod'}; expected: ${arrives?.port ?? 'no pod'}`);
    if (shows !== undefined && !trace.replaceAll(/\s/g, '').includes(shows)) throw new Error(`${what} arrives without ${shows}`);
  }

  async #trace({ from, to, tcp, reply }: Flow): Promise<string> {
    const isOutside = from.port.endsWith(`.${tenant.BEYOND}`);
    const [subnet, router] = isOutside ? [EXTERNAL, `${TENANT}-${EXTERNAL}`] : [INSIDE, `${TENANT}-${INSIDE}`];
    const mac = (await this.#lab.ovn.nbctl('get', 'Logical_Router_Port', router, 'mac')).trim().replaceAll('"', '');
    // A distributed EIP is at the pod's own MAC.
    const target = isOutside && to === ADDRESSES.distributed ? this.#pod('near').mac : mac;
    const flow = `inport == "${from.port}" && eth.src == ${from.mac} && eth.dst == ${target} && ip4.src == ${from.ip} && ip4.dst == ${to} && ip.ttl == 64`;
    return await this.#lab.ovn.trace(
      ...(reply === true ? REPLY : FIRST),
      '--minimal',
      subnet,
      `${flow} && ${tcp === undefined ? 'icmp4.type == 8' : `tcp && ${tcp}`}`,
    );
  }

  async #packets(packets: Packets): Promise<string> {
    const outside = this.#outsideHost();
    for (const eip of [ADDRESSES.central, ADDRESSES.distributed])
      await until(`${eip} answers a host outside`, () => outside.reaches(eip, { seconds: 1 }));
    const server = await this.#namespaceOf(packets, 'fip').serve(PORT.internal);
    this.#stops.push(server);
    await until(`port ${PORT.external} of ${ADDRESSES.shared} answers`, async () =>
      (await outside.ask(ADDRESSES.shared, PORT.external)).endsWith(tenant.OUTSIDE),
    );
    const seen: string[] = [];
    for (const name of ['fip', 'near', 'plain']) {
      await outside.run('nft', 'flush', 'set', 'ip', 'seen', 'sources');
      const from = this.#namespaceOf(packets, name);
      await until(`pod ${INSIDE}/${name} gets an answer from ${tenant.OUTSIDE}`, () => from.reaches(tenant.OUTSIDE, { seconds: 1 }));
      seen.push(...(await sourcesIn(outside)));
    }
    const expected = [ADDRESSES.central, ADDRESSES.distributed, ADDRESSES.shared].join();
    if (seen.join() !== expected) throw new Error(`the host outside sees ${seen.join()}, and the EIPs are ${expected}`);
    return `${seen.join(', ')}, and port ${PORT.external} of ${ADDRESSES.shared}`;
  }

  /** As a node dies: nothing of it answers any more, and Kubernetes finds its kubelet silent. */
  async #failover(packets: Packets): Promise<string> {
    const outside = this.#outsideHost();
    const dead = await this.#gateway(packets);
    const traffic = [outside.ping(ADDRESSES.central), this.#namespaceOf(packets, 'plain').ping(tenant.OUTSIDE)];
    for (const ping of traffic) await ping.answered();
    const { vswitch, name } = dead.node;
    for (const daemon of ['ovn-controller', 'ovs-vswitchd'] as const) await vswitch.kill(daemon);
    await this.#report(name, 'Unknown');
    try {
      await until('traffic to an EIP goes on', () => outside.reaches(ADDRESSES.central, { seconds: 1 }));
      await until('outgoing traffic goes on', () => this.#namespaceOf(packets, 'plain').reaches(tenant.OUTSIDE, { seconds: 1 }));
      const next = await this.#gateway(packets);
      if (next === dead) throw new Error(`node ${name} hosts the external port, and it is dead`);
      const longest: number[] = [];
      for (const ping of traffic) await ping.answered();
      for (const ping of traffic) longest.push((await ping.end()).longestMs);
      return `from ${name} to ${next.node.name}, ${longest.map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(' and ')} without an answer`;
    } finally {
      for (const ping of traffic) await ping.end().catch(() => undefined);
      for (const daemon of ['ovs-vswitchd', 'ovn-controller'] as const) await vswitch.restart(daemon);
      await this.#report(name, 'True');
    }
  }

  async #delete(): Promise<string> {
    const { client } = this.#lab;
    const network = [...tenant.networkObjects()];
    const first = [...network.filter(({ resource }) => [VPCS, SUBNETS].includes(resource)), ...tenant.eipObjects()];
    for (const { resource, object } of first) await client.delete(resource, object.metadata);
    let said = '';
    for (const { resource, object } of [...first.filter((one) => one.resource === VPCS), ...tenant.eipObjects()])
      await until(`${resource.kind} ${object.metadata.name} says what it waits for`, async () => {
        const found = await client.find<Observed>(resource, object.metadata);
        if (found?.metadata.finalizers?.includes(FINALIZER) !== true)
          throw new Error(`${resource.kind} ${object.metadata.name} has no finalizer, and rules use it`);
        const blocked = found.status?.conditions?.find(({ type, status }) => type === 'DeletionBlocked' && status === 'True');
        said ||= blocked?.message ?? '';
        return blocked !== undefined;
      });
    await this.#deleteAll(tenant.ruleObjects());
    await this.#lab.ovn.nbctl('--wait=sb', 'sync');
    await this.#silent();
    const pods = tenant.podObjects(undefined);
    await this.#deleteAll(pods);
    await this.#deleteAll(
      network.filter(({ resource }) => resource !== NAMESPACES && !first.some((one) => one.resource === resource)),
      false,
    );
    for (const { object } of network.filter(({ resource }) => resource === NAMESPACES)) await client.delete(NAMESPACES, object.metadata);
    await this.#untilGone([...first, ...network.filter(({ resource }) => resource !== NAMESPACES)]);
    return `"${said}"`;
  }

  /** Pods still run, and their router still exists. */
  async #silent(): Promise<void> {
    const host = this.#pod('host');
    for (const to of Object.values(ADDRESSES)) await this.#translated({ from: host, to }, undefined);
    await this.#translated({ from: host, to: ADDRESSES.shared, tcp: `tcp.dst == ${PORT.external}` }, undefined);
    for (const address of this.#outside === undefined ? [] : Object.values(ADDRESSES))
      await until(`${address} does not answer any more`, async () => !(await this.#outsideHost().reaches(address, { seconds: 1 })));
  }

  /** The node that hosts the external port. */
  async #gateway({ nodes }: Packets): Promise<PacketNode> {
    const { ovn, client } = this.#lab;
    let found: PacketNode | undefined;
    await until('a node hosts the external port', async () => {
      const port = `logical_port=cr-${TENANT}-${EXTERNAL}`;
      const chassis = (await ovn.sbctl('--bare', '--columns=chassis', 'find', 'Port_Binding', port)).trim();
      if (chassis === '') return false;
      const name = (await ovn.sbctl('get', 'Chassis', chassis, 'name')).trim().replaceAll('"', '');
      for (const one of nodes)
        if ((await client.get<Observed>(tenant.LAB_NODES, { name: one.node.name })).metadata.annotations?.[CHASSIS] === name) found = one;
      return found !== undefined;
    });
    return found as PacketNode;
  }

  /** Kubernetes' word on a node. */
  async #report(name: string, status: 'True' | 'Unknown'): Promise<void> {
    const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '');
    const condition = { type: 'Ready', status, reason: status === 'True' ? 'KubeletReady' : 'NodeStatusUnknown', lastTransitionTime };
    await this.#lab.client.mergePatch(tenant.LAB_NODES, { name }, { status: { conditions: [condition] } }, { subresource: 'status' });
  }

  async #annotate(name: string, labels: Marks, annotations: Marks): Promise<void> {
    await this.#lab.client.mergePatch(tenant.LAB_NODES, { name }, { metadata: { labels, annotations } });
  }

  async #create(objects: readonly DemoObject[]): Promise<void> {
    for (const { resource, object } of objects) await this.#lab.client.create(resource, object);
  }

  async #deleteAll(objects: readonly DemoObject[], wait = true): Promise<void> {
    for (const { resource, object } of objects) await this.#lab.client.delete(resource, object.metadata);
    if (wait) await this.#untilGone(objects);
  }

  async #untilGone(objects: readonly DemoObject[]): Promise<void> {
    for (const { resource, object } of objects)
      await until(`${resource.kind} ${object.metadata.name} is gone`, async () => {
        return (await this.#lab.client.find(resource, object.metadata)) === undefined;
      });
  }

  #pod(name: string): Located {
    const found = this.#pods.get(name);
    if (found === undefined || found.ip === '') throw new Error(`pod ${name} of tenant ${TENANT} has no network`);
    return found;
  }

  #outsideHost(): Namespace {
    if (this.#outside === undefined) throw new Error('there is no host outside');
    return this.#outside;
  }

  #namespaceOf({ sandboxes }: Packets, name: string): Namespace {
    const found = sandboxes.find({ namespace: INSIDE, name })?.sandbox?.namespace;
    if (found === undefined) throw new Error(`pod ${INSIDE}/${name} has no network`);
    return found;
  }
}

/** In each zone that the packet passes. */
const REPLY = ['--ct=est,rpl', '--ct=est,rpl', '--ct=est,rpl'];
const FIRST = ['--ct=new', '--ct=new', '--ct=new'];

/** What ovn-trace shows of a source that is translated in a tracked connection: OVN has several actions for it. */
function snat(address: string): string {
  return `(ip4.src=${address})`;
}

type Marks = Readonly<Record<string, string | null>>;

/** Keeps the sources of the echo requests that arrive. */
const SEEN =
  'table ip seen { set sources { type ipv4_addr; flags dynamic; size 1000; }; chain input { type filter hook input priority 0; icmp type echo-request add @sources { ip saddr }; }; }';

async function sourcesIn(namespace: Namespace): Promise<readonly string[]> {
  const { nftables } = JSON.parse(await namespace.run('nft', '-j', 'list', 'set', 'ip', 'seen', 'sources')) as {
    readonly nftables: readonly { readonly set?: { readonly elem?: readonly string[] } }[];
  };
  return nftables.flatMap(({ set }) => set?.elem ?? []);
}

export const EXTERNAL_KINDS: readonly Resource[] = [
  ...[tenant.EIPS, tenant.FIPS, tenant.SNATS, tenant.DNATS],
  ...[tenant.VLANS, tenant.PROVIDER_NETWORKS],
];
