/** What every case receives: the server under test, through kubectl and through plain HTTPS. */
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import type { HttpsClient, Fields, RawReply } from './https-client.ts';
import { type Kubectl } from './kubectl.ts';
import { until } from '../../src/testing/until.ts';

export interface Conformance {
  readonly kubectl: Kubectl;
  readonly http: HttpsClient;
  readonly kubeconfigPath: string;
}

/** `current` is set before the first case runs. */
export interface Holder {
  current: Conformance | undefined;
  /** The minor version of the server, known before it starts. */
  readonly minor: number;
  /** Cases that need a newer server. */
  readonly notAsked: string[];
}

export function conformance(holder: Holder): Conformance {
  if (holder.current === undefined) throw new Error('the server under test has not started');
  return holder.current;
}

/** Declares a case that needs this minor version, and skips it on an older server. */
export function since(holder: Holder, minor: number, name: string, body: () => Promise<void>): void {
  if (holder.minor >= minor) test(name, body);
  else holder.notAsked.push(`${name} (first in Kubernetes 1.${minor})`);
}

let counter = 0;

/** A name that no other case uses. */
export function fresh(prefix: string): string {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}`;
}

/** The value at a path; `undefined` if there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = (here as Fields)[key];
  }
  return here;
}

export function message(reply: RawReply): string {
  return String(at(reply.body, 'message'));
}

export function version(reply: { readonly body: Fields }): string {
  return String(at(reply.body, 'metadata', 'resourceVersion'));
}

export async function newNamespace(holder: Holder): Promise<string> {
  const name = fresh('case');
  const { http } = conformance(holder);
  const reply = await http.send('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  if (reply.status !== 201) throw new Error(`namespace ${name}: ${reply.status} ${reply.text}`);
  // The control plane adds these objects to every namespace a moment later. Cases must not see the namespace before.
  for (const made of ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'])
    await until(`namespace ${name} has ${made}`, async () => (await http.get(`/api/v1/namespaces/${name}/${made}`)).status === 200);
  return name;
}

/** Creates a node. A control plane deletes pods that are bound to a missing node after a while. */
export async function newNode(holder: Holder): Promise<string> {
  const name = fresh('node');
  const reply = await conformance(holder).http.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  if (reply.status !== 201) throw new Error(`node ${name}: ${reply.status} ${reply.text}`);
  return name;
}

/** The reply of a health check once it succeeds: one slow answer of the database already makes it fail. */
export async function wellAt(client: HttpsClient, path: string): Promise<RawReply> {
  for (const begun = performance.now(); ; await sleep(100)) {
    const reply = await client.get(path);
    if (reply.status !== 500 || performance.now() - begun > PATIENCE_MS) return reply;
  }
}

export function configMap(name: string, data: Record<string, string> = {}, metadata: Fields = {}): Fields {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

export function pod(name: string, metadata: Fields = {}): Fields {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'registry.example/app:1' }] },
  };
}
