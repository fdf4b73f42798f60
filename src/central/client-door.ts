/**
 * Where clients reach a database: a port with TLS and an authority of its own, in front of the server's Unix socket. An ovsdb-server has one setting of
 * TLS for its clients and for the other members of its cluster: who may connect as a client could join as a member, and vote. So the server itself
 * listens for members alone.
 */
import { X509Certificate } from 'node:crypto';
import { connect, isIPv6 } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Log } from '../runtime/log.ts';
import { REQUESTS_OF_CENTRAL, REQUESTS_OF_NODES, RequestGate } from './request-gate.ts';

/** Texts in PEM. */
export interface DoorKeys {
  readonly key: string;
  readonly certificate: string;
  /** Of clients. */
  readonly authorities: string;
  /** Of the controller and of northd: who has a certificate of it may lock. */
  readonly central: string;
}

export interface ClientDoorOptions {
  /** For messages: `OVN_Southbound` */
  readonly schema: string;
  /** Of the member: clients reach every address of its family. */
  readonly address: string;
  readonly port: number;
  /** Of the server. */
  readonly socket: string;
  readonly log: Log;
}

/** A client that died without a word is noticed after this and some ten seconds more. */
const KEEP_ALIVE_MS = 30_000;
const HANDSHAKE_MS = 10_000;
/** A client that takes nothing of what it was sent for so long is cut off: what follows would fill the server's memory. */
const STUCK_MS = 120_000;

export class ClientDoor {
  readonly #options: ClientDoorOptions;
  readonly #clients = new Set<TLSSocket>();
  #server: Server | undefined;
  #problem: string | undefined;

  constructor(options: ClientDoorOptions) {
    this.#options = options;
  }

  /** Why clients cannot connect; undefined if they can. */
  get problem(): string | undefined {
    if (this.#server?.listening === true) return undefined;
    return `${this.#options.schema}: clients cannot connect: ${this.#problem ?? 'its port is not open yet'}`;
  }

  /** Without effect while it is open. */
  open({ key, certificate, authorities, central }: DoorKeys): void {
    if (this.#server !== undefined) return;
    const { address, port } = this.#options;
    const { publicKey } = new X509Certificate(central);
    const server = createServer({
      ...{ key, cert: certificate, ca: authorities, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.2' },
      ...{ handshakeTimeout: HANDSHAKE_MS, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    });
    server.on('secureConnection', (client) => {
      // Its handshake ended after the door was closed.
      if (this.#server !== server) return void client.destroy();
      const isCentral = client.getPeerX509Certificate()?.verify(publicKey) === true;
      this.#admit(client, isCentral ? REQUESTS_OF_CENTRAL : REQUESTS_OF_NODES);
    });
    server.on('error', (error: Error) => {
      this.#problem = error.message;
      if (server.listening) return;
      // The next look tries again.
      server.close();
      if (this.#server === server) this.#server = undefined;
    });
    this.#server = server;
    server.listen(port, isIPv6(address) ? '::' : '0.0.0.0');
  }

  close(): void {
    // It listens no more; a handshake under way is not waited for.
    if (this.#server?.listening === true) this.#server.close();
    this.#server = undefined;
    for (const client of this.#clients) client.destroy();
  }

  #admit(client: TLSSocket, requests: ReadonlySet<string>): void {
    const { log, schema, socket } = this.#options;
    const gate = new RequestGate(requests);
    const from = { database: schema, address: client.remoteAddress, name: client.getPeerX509Certificate()?.subject };
    const checked = new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        try {
          gate.check(chunk);
        } catch (error) {
          log.warn('a client is cut off', { ...from, why: (error as Error).message });
          return pass(error as Error);
        }
        pass(null, chunk);
      },
    });
    this.#clients.add(client);
    client.setTimeout(STUCK_MS, () => {
      if (client.writableLength > 0) client.destroy();
    });
    // Either end that closes, and each error, ends all: a client connects again, to the next member.
    pipeline(client, checked, connect(socket), client, () => {
      this.#clients.delete(client);
      client.destroy();
    });
  }
}
