/**
 * The program that answers BFD within the network namespace of a gateway. It tells on standard output what it hears, a line of JSON each, and ends
 * when it is told to (SIGTERM), or when its address is taken away.
 */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { type Address, canonicalAddress, parseAddress } from '../../net/address.ts';
import { type Cidr, cidrContains, parseCidr } from '../../net/cidr.ts';
import { type BfdPacket, decodePacket, encodePacket } from './packet.ts';
import type { BfdReport } from './report.ts';
import { type BfdSession, type BfdStep, dueAt, elapsed, farewell, heard } from './session.ts';

/** RFC 5881, section 4. */
const PORT = 3_784;
const FIRST_SOURCE_PORT = 49_152;
const LAST_PORT = 65_535;
/** RFC 5881, section 5: shows that the packet was not forwarded. */
const TTL = 255;
/** Of all gateways in a network, one for each router. */
const MOST_SESSIONS = 4_096;
/** A busy node must not seem dead. */
const PRIORITY = -10;
const ATTEMPTS = 20;

export interface ResponderOptions {
  /** Of the gateway's own networks; an address in none of them gets no answer. */
  readonly networks: readonly string[];
  readonly report: (report: BfdReport) => void;
  readonly stopped: Promise<unknown>;
}

interface Known {
  session: BfdSession;
  timer: NodeJS.Timeout | undefined;
}

/** Answers until `stopped` resolves. @throws Error if it cannot listen */
export async function answerBfd({ networks, report, stopped }: ResponderOptions): Promise<void> {
  try {
    setPriority(PRIORITY);
  } catch {
    // Without the right to it (CAP_SYS_NICE) it is as any other program.
  }
  const cidrs = networks.flatMap((text) => parseCidr(text) ?? []);
  const families = ([4, 6] as const).filter((family) => cidrs.some((cidr) => cidr.family === family));
  const responder = new Responder(cidrs, report);
  for (const family of families) await responder.listen(family);
  report({ kind: 'listening' });
  await stopped;
  await responder.stop();
}

class Responder {
  readonly #networks: readonly Cidr[];
  readonly #report: ResponderOptions['report'];
  readonly #known = new Map<string, Known>();
  readonly #senders = new Map<4 | 6, Socket>();
  readonly #listeners: Socket[] = [];

  constructor(networks: readonly Cidr[], report: ResponderOptions['report']) {
    this.#networks = networks;
    this.#report = report;
  }

  async listen(family: 4 | 6): Promise<void> {
    const open = (): Socket => createSocket({ type: `udp${family}`, ...(family === 6 && { ipv6Only: true }) });
    const sender = await bound(open, () => randomInt(FIRST_SOURCE_PORT, LAST_PORT + 1));
    sender.setTTL(TTL);
    this.#senders.set(family, sender);
    const listener = await bound(open, () => PORT);
    listener.on('message', (bytes, { address }) => this.#take(bytes, address));
    this.#listeners.push(listener);
  }

  /** Routers hear of it. */
  async stop(): Promise<void> {
    for (const socket of this.#listeners) socket.close();
    for (const [peer, { session, timer }] of this.#known) {
      clearTimeout(timer);
      await Promise.all(farewell(session).map((packet) => this.#send(peer, packet)));
    }
    for (const socket of this.#senders.values()) socket.close();
  }

  #take(bytes: Buffer, from: string): void {
    const peer = canonicalAddress(from) ?? '';
    const packet = decodePacket(bytes);
    const known = this.#known.get(peer);
    if (packet === undefined || !this.#isNear(parseAddress(peer)) || (known === undefined && this.#known.size >= MOST_SESSIONS)) return;
    this.#apply(peer, heard(known?.session, packet, performance.now(), randomInt(1, 2 ** 32), Math.random()));
  }

  #isNear(address: Address | undefined): boolean {
    return address !== undefined && this.#networks.some((network) => network.family === address.family && cidrContains(network, address));
  }

  #apply(peer: string, { session, send }: BfdStep): void {
    const known = this.#known.get(peer);
    clearTimeout(known?.timer);
    for (const packet of send) void this.#send(peer, packet);
    if (known?.session.state !== session?.state) this.#report({ kind: 'session', peer, state: session?.state ?? 'gone' });
    if (session === undefined) {
      this.#known.delete(peer);
      return;
    }
    const timer = setTimeout(
      () => this.#apply(peer, elapsed(session, performance.now(), Math.random())),
      Math.max(0, dueAt(session) - performance.now()),
    );
    this.#known.set(peer, { session, timer });
  }

  /** One that cannot be sent is as one that is lost. */
  async #send(peer: string, packet: BfdPacket): Promise<void> {
    const sender = this.#senders.get(peer.includes(':') ? 6 : 4);
    await new Promise<void>((resolve) => {
      if (sender === undefined) resolve();
      else sender.send(encodePacket(packet), PORT, peer, () => resolve());
    });
  }
}

/** @param port asked for one until it is free */
async function bound(open: () => Socket, port: () => number): Promise<Socket> {
  for (let attempt = 1; ; attempt += 1) {
    const socket = open();
    const number = port();
    try {
      socket.bind(number);
      await once(socket, 'listening');
      socket.on('error', () => undefined);
      return socket;
    } catch (error) {
      socket.close();
      if (number === PORT || attempt === ATTEMPTS) throw error;
    }
  }
}
