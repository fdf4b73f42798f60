/** A plain HTTPS client of a Kubernetes API: it shows the raw replies that client libraries hide. */
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { parse } from 'yaml';

export type Fields = { [key: string]: unknown };

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body, when it is JSON. */
  readonly body: Fields;
}

export interface WatchedEvent {
  readonly type: string;
  readonly object: Fields;
}

interface KubeconfigParts {
  readonly clusters: readonly {
    readonly cluster: {
      readonly server: string;
      readonly 'certificate-authority-data'?: string;
      readonly 'certificate-authority'?: string;
      readonly 'insecure-skip-tls-verify'?: boolean;
    };
  }[];
  readonly users: readonly {
    readonly user: { readonly token?: string; readonly 'client-certificate-data'?: string; readonly 'client-key-data'?: string };
  }[];
}

export class HttpsClient {
  readonly server: string;
  readonly #agent: Agent;
  readonly #token: string | undefined;

  private constructor(server: string, agent: Agent, token: string | undefined) {
    this.server = server;
    this.#agent = agent;
    this.#token = token;
  }

  static async fromKubeconfig(path: string, anonymous = false): Promise<HttpsClient> {
    const config = parse(await readFile(path, 'utf8')) as KubeconfigParts;
    const cluster = config.clusters[0]?.cluster;
    const user = config.users[0]?.user;
    if (cluster === undefined || user === undefined) throw new Error(`${path} names no cluster or no user`);
    const decode = (data: string | undefined): Buffer | undefined => (data === undefined ? undefined : Buffer.from(data, 'base64'));
    const authorityFile = cluster['certificate-authority'];
    const authority =
      decode(cluster['certificate-authority-data']) ?? (authorityFile === undefined ? undefined : await readFile(authorityFile));
    const [certificate, key] = anonymous
      ? [undefined, undefined]
      : [decode(user['client-certificate-data']), decode(user['client-key-data'])];
    const agent = new Agent({
      keepAlive: true,
      rejectUnauthorized: cluster['insecure-skip-tls-verify'] !== true,
      ...(authority === undefined ? {} : { ca: authority }),
      ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    });
    return new HttpsClient(cluster.server, agent, anonymous ? undefined : user.token);
  }

  close(): void {
    this.#agent.destroy();
  }

  async send(method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<RawReply> {
    const reply = await this.#open(method, path, body, headers);
    const chunks: Buffer[] = [];
    for await (const chunk of reply) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = undefined;
    }
    return {
      status: reply.statusCode ?? 0,
      headers: reply.headers,
      text,
      body: typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : {},
    };
  }

  async get(path: string, headers?: Readonly<Record<string, string>>): Promise<RawReply> {
    return this.send('GET', path, undefined, headers);
  }

  async patch(path: string, type: 'json-patch' | 'merge-patch' | 'strategic-merge-patch', body: unknown): Promise<RawReply> {
    return this.send('PATCH', path, body, { 'Content-Type': `application/${type}+json` });
  }

  /** Opens a watch and collects its events. */
  async watch(
    path: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly events: WatchedEvent[]; readonly ended: Promise<void>; readonly stop: () => void }> {
    const reply = await this.#open('GET', path, undefined, headers);
    const events: WatchedEvent[] = [];
    let rest = '';
    reply.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') events.push(JSON.parse(line) as WatchedEvent);
    });
    const ended = new Promise<void>((resolve) => {
      reply.once('close', () => resolve());
      reply.once('error', () => resolve());
    });
    return { status: reply.statusCode ?? 0, events, ended, stop: () => void reply.destroy() };
  }

  async #open(method: string, path: string, body: unknown, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const outgoing = request(
        new URL(path, this.server),
        {
          method,
          agent: this.#agent,
          headers: {
            Accept: 'application/json',
            ...(this.#token === undefined ? {} : { Authorization: `Bearer ${this.#token}` }),
            ...(text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
            ...headers,
          },
        },
        resolve,
      );
      outgoing.once('error', reject);
      outgoing.end(text);
    });
  }
}
