import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';

const FIRST = 20_000;
/** With fewer ports to choose from, two programs would often get the same one. */
const FEWEST = 4_000;
const TRIES = 100;

/**
 * Free TCP ports of 127.0.0.1, for programs that need a port before they start and keep it across restarts. All are held until the last one
 * is found, so they differ. If the system reports its ephemeral range, they are below it: then no connection takes one before its use, or
 * while its program is down.
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

/** The lowest ephemeral port of Linux; 0 if the system does not report it. */
function firstGivenOut(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10);
  } catch {
    return 0;
  }
}
