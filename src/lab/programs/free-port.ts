import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Free TCP ports of 127.0.0.1, for programs that must be told a port before they start and keep it across restarts.
 * All are held until the last is known, so they differ. Between this and their use another program may take one.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
