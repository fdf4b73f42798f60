import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';

const FIRST = 20_000;
/** Fewer ports than this to choose from, and chance would not keep programs apart. */
const FEWEST = 4_000;
const TRIES = 100;

/**
 * Free TCP ports of 127.0.0.1, for programs that must be told a port before they start and keep it across restarts.
 * All are held until the last is known, so they differ. Where the system says which ports it gives out by itself, they lie below those: no
 * connection takes one before its use, or while its program is down.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, hold));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

async function hold(): Promise<Server> {
  const room = firstGivenOut() - FIRST;
  for (let tries = room < FEWEST ? TRIES : 0; tries < TRIES; tries++) {
    const server = await listen(FIRST + Math.floor(Math.random() * room)).catch(() => undefined);
    if (server !== undefined) return server;
  }
  return await listen(0);
}

async function listen(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** The lowest port that Linux gives a connection or a listener that asks for none; 0 where it does not say. */
function firstGivenOut(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    return 0;
  }
}
