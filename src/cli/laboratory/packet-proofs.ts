/** The proofs of `kiln start --check` by packets: the demo's pods, and two pods of the default Vpc, on the first and on the last node. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/errors.ts';
import { DEMO_PODS, type DemoPod, PLAIN_PODS, podOn, TENANTS } from './demo.ts';
import type { Laboratory } from './laboratory.ts';

type Packets = NonNullable<Laboratory['packets']>;
type Running = NonNullable<ReturnType<Packets['sandboxes']['find']>>;
type Namespace = NonNullable<Running['sandbox']>['namespace'];

export interface ProvenNetwork {
  readonly client: KubeClient;
  readonly packets: Packets;
  /** Pods of the demo with their addresses. */
  readonly pods: readonly (DemoPod & { readonly ip: string })[];
}

/** Something that sends and answers. */
interface Station {
  readonly name: string;
  readonly address: string;
  readonly node: string;
  readonly namespace: Namespace;
}

const PATIENCE_MS = 30_000;
const OUTSIDE = '172.18.255.99';
/** Headers of ICMP and IP. */
const HEADERS = { v4: 28, v6: 48 } as const;

/** @param prove runs a proof and prints its result; the proof throws an Error if it does not hold */
export async function provePackets(
  network: ProvenNetwork,
  prove: (what: string, proof: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const { client, packets } = network;
  const tenants = TENANTS.map((tenant) => ({ tenant, stations: tenantStations(network, tenant) }));
  for (const { tenant, stations } of tenants)
    await prove(`by packets: ${tenant}: pods reach each other across nodes and Subnets`, () => allReach(stations, stations));
  await prove('by packets: tenants with equal addresses are apart', () => apart(tenants.map(({ stations }) => stations)));
  const nodes = packets.nodes.map(({ node }) => ({ name: node.name, address: node.address, node: node.name, namespace: node.namespace }));
  try {
    let plain: readonly Station[] = [];
    await prove('by packets: nodes reach pods of the default Vpc, and pods reach nodes', async () => {
      plain = await plainPods(client, packets);
      const there = await allReach(nodes, plain);
      return `${there} there, ${await allReach(plain, nodes)} back`;
    });
    const [first, last] = plain;
    if (first === undefined || last === undefined) return;
    await prove('by packets: pods reach a host outside, through NAT', () => translated(packets, plain));
    await prove('by packets: a packet as large as the MTU passes', () => largePacket(first, last));
    await prove('by packets: the address of a deleted pod is silent', () => silent(client, packets, first, last));
  } finally {
    for (const pod of PLAIN_PODS) await deletePod(client, packets, pod);
  }
}

function tenantStations({ packets, pods }: ProvenNetwork, tenant: string): readonly Station[] {
  return pods.flatMap((pod) => {
    const running = pod.tenant === tenant ? packets.sandboxes.find(pod) : undefined;
    return running?.sandbox === undefined ? [] : [stationOf(`${pod.namespace}/${pod.name}`, running, running.sandbox.namespace)];
  });
}

function stationOf(name: string, { addresses: [address = ''], node }: Running, namespace: Namespace): Station {
  return { name, address, node: node.node.name, namespace };
}

/** Every one of the first reaches every one of the second. The first packet may wait for routes of the node. */
async function allReach(senders: readonly Station[], receivers: readonly Station[]): Promise<string> {
  let [sent, across] = [0, 0];
  for (const from of senders) {
    for (const to of receivers) {
      if (from.address === to.address) continue;
      await until(`${from.name} on ${from.node} gets an answer from ${to.name} (${to.address}) on ${to.node}`, () =>
        from.namespace.reaches(to.address),
      );
      sent += 1;
      if (from.node !== to.node) across += 1;
    }
  }
  if (sent === 0) throw new Error('there is no pod with a network');
  return `${sent} paths, ${across} of them across nodes`;
}

/** Each tenant sends to every address of the others; no pod of the others may receive an echo request meanwhile. */
async function apart(tenants: readonly (readonly Station[])[]): Promise<string> {
  let attempts = 0;
  for (const senders of tenants) {
    const strangers = tenants.filter((one) => one !== senders).flat();
    const before = await Promise.all(strangers.map(echoRequests));
    await Promise.all(
      senders.flatMap((from) =>
        strangers.filter((to) => to.address !== from.address).map((to) => from.namespace.reaches(to.address, { seconds: 1 })),
      ),
    );
    const after = await Promise.all(strangers.map(echoRequests));
    attempts += senders.length * strangers.length;
    const hit = strangers.findIndex((_, index) => before[index] !== after[index]);
    if (hit !== -1) throw new Error(`packets of pod ${senders[0]?.name ?? ''}'s tenant arrive at pod ${strangers[hit]?.name ?? ''}`);
  }
  const addresses = tenants.map((stations) => new Set(stations.map(({ address }) => address)));
  const equal = [...(addresses[0] ?? [])].filter((address) => addresses.every((one) => one.has(address)));
  if (equal.length === 0) throw new Error('no address is in both tenants');
  return `${attempts} attempts, ${equal.length} addresses in both tenants`;
}

/** The number of echo requests that arrived. */
async function echoRequests({ namespace }: Station): Promise<string> {
  const text = await namespace.run('cat', '/proc/net/snmp');
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('Icmp:'))
    .map((line) => line.split(' '));
  const counted = values[names.indexOf('InEchos')];
  if (counted === undefined) throw new Error('the kernel does not count echo requests');
  return counted;
}

async function plainPods(client: KubeClient, packets: Packets): Promise<readonly Station[]> {
  for (const [index, { namespace, name }] of PLAIN_PODS.entries()) {
    await client.create(DEMO_PODS, podOn(packets.nodes.at(-index)?.node.name, { namespace, name }));
  }
  const stations: Station[] = [];
  for (const pod of PLAIN_PODS) {
    const name = `${pod.namespace}/${pod.name}`;
    await until(`pod ${name} has its network`, () => packets.sandboxes.find(pod) !== undefined);
    const running = packets.sandboxes.find(pod);
    if (running?.sandbox !== undefined) stations.push(stationOf(name, running, running.sandbox.namespace));
  }
  return stations;
}

/** The host has no route to pods: only requests that come from an address of a node can be answered. */
async function translated({ underlay, nodes }: Packets, pods: readonly Station[]): Promise<string> {
  const host = await underlay.addOutsideHost(`${OUTSIDE}/16`);
  try {
    for (const pod of pods) {
      await until(`pod ${pod.name} on ${pod.node} gets an answer from ${OUTSIDE}`, () => pod.namespace.reaches(OUTSIDE));
    }
    const seen = await host.run('ip', 'neighbour', 'show');
    const sources = nodes.map(({ node }) => node.address).filter((address) => seen.split(/\s+/).includes(address));
    return `${pods.length} pods, which ${OUTSIDE} sees as ${sources.join(' and ')}`;
  } finally {
    await host.delete();
  }
}

async function largePacket(from: Station, to: Station): Promise<string> {
  const links = JSON.parse(await from.namespace.run('ip', '-json', 'link', 'show', 'dev', 'eth0')) as readonly { readonly mtu: number }[];
  const mtu = links[0]?.mtu ?? 0;
  const size = mtu - (to.address.includes(':') ? HEADERS.v6 : HEADERS.v4);
  if (!(await from.namespace.reaches(to.address, { size })))
    throw new Error(`a packet of ${mtu} bytes from ${from.name} on ${from.node} to ${to.name} on ${to.node} is not answered`);
  return `${mtu} bytes`;
}

async function silent(client: KubeClient, packets: Packets, from: Station, to: Station): Promise<string> {
  const [, pod] = PLAIN_PODS;
  await deletePod(client, packets, pod);
  if (await from.namespace.reaches(to.address, { seconds: 1 })) throw new Error(`${to.address} of the deleted pod ${to.name} answers`);
  return to.address;
}

async function deletePod(client: KubeClient, packets: Packets, pod: (typeof PLAIN_PODS)[number]): Promise<void> {
  await client.delete(DEMO_PODS, pod).catch((error: unknown) => {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
  });
  await until(`the network of pod ${pod.namespace}/${pod.name} is gone`, () => packets.sandboxes.find(pod) === undefined);
}

/** @throws Error after 30 seconds */
export async function until(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`not after ${PATIENCE_MS / 1000} s: ${what}`);
    await sleep(50);
  }
}
