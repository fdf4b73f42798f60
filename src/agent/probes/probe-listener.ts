/** The listener for one address and port: hands what kubelet asks to the pods whose probe it is. */
import { once } from 'node:events';
import { type AddressInfo, createServer, isIP, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { CertificateAuthority } from '../../certificates/authority.ts';
import type { ProbedPodOutput } from '../world/outputs.ts';
import type { ConnectToPod } from './pod-connection.ts';
import { answerOf, beginningOf, type HttpRequest, isProbe, MOST_HEAD_BYTES, samePath } from './probe-request.ts';

/** Kubelet reads 10 KiB of an answer. */
const MOST_ANSWER_BYTES = 64 * 1024;
/** Of a connection, whatever the timeout of its probe. */
const LONGEST_MS = 60_000;
/** Of one listener. */
const MOST_CONNECTIONS = 32;
/** Kubelet follows a redirect at once. */
const REDIRECT_MS = 10_000;
const MOST_REDIRECTS = 16;

export class ProbeListenerServer {
  readonly #server: Server;
  readonly #connect: ConnectToPod;
  readonly #loopback: string;
  /** With the probes of this port; several have one address. */
  pods: readonly ProbedPodOutput[] = [];
  /** Paths that a pod has sent kubelet to, by pod. */
  readonly #redirects = new Map<string, readonly { readonly path: string; readonly until: number }[]>();
  readonly #open = new Set<Socket>();

  constructor(address: string, connect: ConnectToPod) {
    this.#connect = connect;
    this.#loopback = address.includes(':') ? '::1' : '127.0.0.1';
    this.#server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      if (this.#open.size >= MOST_CONNECTIONS) return void socket.resetAndDestroy();
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
      socket.setTimeout(LONGEST_MS, () => socket.destroy());
      void this.#serve(socket, false).catch(() => socket.destroy());
    });
  }

  /** @returns its port. @throws Error of the system */
  async listen(): Promise<number> {
    this.#server.listen(0, this.#loopback);
    await once(this.#server, 'listening');
    this.#server.on('error', () => {});
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(socket: Socket, tls: boolean): Promise<void> {
    const bytes = await beginning(socket);
    if (bytes === undefined) return void socket.destroy();
    const asked = beginningOf(bytes);
    if (asked.kind === 'tls' && !tls && this.#has('http', true)) {
      socket.unshift(bytes);
      const secure = new TLSSocket(socket, { isServer: true, secureContext: ownContext() });
      secure.on('error', () => socket.destroy());
      return await this.#serve(secure, true);
    }
    if (asked.kind === 'grpc' && !tls && this.#has('grpc', false)) return this.#join(socket, bytes);
    if (asked.kind === 'http') return await this.#exchange(socket, bytes, asked.request, tls);
    reset(socket);
  }

  #has(kind: 'http' | 'grpc', tls: boolean): boolean {
    return this.pods.some(({ probes }) => probes.some((probe) => probe.kind === kind && (probe.kind !== 'http' || probe.tls === tls)));
  }

  /** Of several pods with such a probe at one address and port nothing says which one is meant: the first. */
  #join(socket: Socket, bytes: Buffer): void {
    const pod = this.pods.find(({ probes }) => probes.some(({ kind }) => kind === 'grpc'));
    if (pod === undefined) return reset(socket);
    const other = this.#connect(pod);
    other.on('error', () => reset(socket));
    other.once('close', () => socket.destroy());
    socket.once('close', () => other.destroy());
    other.write(bytes);
    socket.pipe(other).pipe(socket);
  }

  /** Several pods may have the same probe: then each is asked, and one that is well answers for all, so that no pod fails for another one. */
  async #exchange(socket: Socket, bytes: Buffer, request: HttpRequest, tls: boolean): Promise<void> {
    const asked = this.pods.filter((pod) => pod.probes.some((probe) => isProbe(probe, request, tls)) || this.#sentTo(pod, request.path));
    const answers = await Promise.all(
      asked.map(async (pod) => {
        const connection = this.#connect(pod);
        socket.once('close', () => connection.destroy());
        const answered = await exchange(connection, bytes, tls ? hostOf(request) : undefined);
        const answer = answerOf(answered);
        if (answer?.redirect !== undefined) this.#remember(pod, answer.redirect);
        return answer && { ...answer, answered };
      }),
    );
    const found = answers.filter((answer) => answer !== undefined);
    const best = found.find(({ status }) => status < 400) ?? found[0];
    if (best === undefined) reset(socket);
    else socket.end(best.answered);
  }

  #sentTo({ pod }: ProbedPodOutput, path: string): boolean {
    return (this.#redirects.get(pod) ?? []).some((one) => one.until > performance.now() && samePath(one.path, path));
  }

  #remember({ pod }: ProbedPodOutput, path: string): void {
    const now = performance.now();
    const others = (this.#redirects.get(pod) ?? []).filter((one) => one.until > now && one.path !== path);
    this.#redirects.set(pod, [...others, { path, until: now + REDIRECT_MS }].slice(-MOST_REDIRECTS));
  }
}

/** The first bytes of a connection, as many as tell what it is; undefined if it ends before. */
async function beginning(socket: Socket): Promise<Buffer | undefined> {
  let bytes: Buffer = Buffer.alloc(0);
  return await new Promise((resolve) => {
    const finish = (result: Buffer | undefined): void => {
      socket.off('data', take).off('end', ended).off('close', ended).pause();
      resolve(result);
    };
    const ended = (): void => finish(undefined);
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      if (beginningOf(bytes).kind !== 'incomplete' || bytes.length >= MOST_HEAD_BYTES) finish(bytes);
    };
    socket.on('data', take).once('end', ended).once('close', ended).resume();
  });
}

/** Sends a request and reads until the end. @returns what came, which is nothing if the port is closed */
async function exchange(connection: Duplex, request: Buffer, tlsHost: string | undefined): Promise<Buffer> {
  connection.on('error', () => connection.destroy());
  // As kubelet does, which asks for no proof either.
  const names = tlsHost === undefined || isIP(tlsHost) !== 0 ? {} : { servername: tlsHost };
  const stream = tlsHost === undefined ? connection : connectTls({ socket: connection, rejectUnauthorized: false, ...names });
  const chunks: Buffer[] = [];
  let size = 0;
  return await new Promise((resolve) => {
    const finish = (): void => {
      connection.destroy();
      resolve(Buffer.concat(chunks));
    };
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MOST_ANSWER_BYTES) finish();
    });
    stream.once('end', finish).once('close', finish).on('error', finish);
    stream.write(request);
  });
}

function hostOf({ headers }: HttpRequest): string {
  const [host = ''] = headers.get('host') ?? [];
  return /^\[(.*)\](?::\d+)?$/.exec(host)?.[1] ?? host.replace(/:\d+$/, '');
}

/** Kubelet sees a connection that breaks, which is a failed probe. */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}

let context: SecureContext | undefined;
const HUNDRED_YEARS_MS = 100 * 365 * 86_400_000;

/** Kubelet does not verify it, whatever its dates. */
function ownContext(): SecureContext {
  if (context === undefined) {
    const authority = new CertificateAuthority('kiln-agent', { from: 0, until: HUNDRED_YEARS_MS });
    const { certificate, key } = authority.issue({ name: { commonName: 'kiln-agent' }, purpose: 'server' });
    context = createSecureContext({ cert: certificate, key });
  }
  return context;
}
