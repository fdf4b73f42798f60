/**
 * The ways to the Northbound database of a cluster, for a command that was given no `--ovn-nb`: a socket of this machine, the Service, the pod's address, the API
 * server's port-forward, and at last, for a command that only reads, `ovsdb-client` in OVN's pod, which needs no port and no certificate. The
 * first that answers is used; a way that is slow to answer does not hold back the next one.
 */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { PodName } from '../../kube/pods/pod-port.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import type { Connection } from '../../kube/transport/connection.ts';
import type { Dial, OvsdbOptions } from '../../ovsdb/index.ts';
import { OvsdbError, snapshotDial } from '../../ovsdb/index.ts';
import { resourceOfKind, traitsOf } from '../../world/resources.ts';
import { probeDatabase } from './probe-database.ts';

export interface NorthboundWay {
  /** For a person: `the Service kube-system/ovn-nb`. */
  readonly text: string;
  /** As of `--ovn-nb`. */
  readonly ovnNb: string;
  readonly options: Pick<OvsdbOptions, 'dial' | 'leaderOnly'>;
  /** Found, not named by the user: whether it is the database of this cluster has to be looked at. */
  readonly isFound: boolean;
}

/**
 * `writes`: without `ovsdb-client`, which takes one snapshot. A command that writes has to see each change of others, and whether its own arrived; one
 * that watches, or waits for the controller, uses these ways too.
 */
export type WayUse = 'reads' | 'writes';

export interface WaysOptions {
  readonly client: KubeClient;
  readonly connection: Connection;
  /** Of OVN's pods. */
  readonly namespace: string;
  /** For `ssl:`; undefined: there are no certificates. */
  readonly tls: OvsdbOptions['tls'];
  readonly use: WayUse;
  readonly timeoutMs: number;
  /** Sockets of this machine. */
  readonly sockets?: readonly string[];
}

/** Why no way leads to the database: each that was tried. */
export class NoWay extends Error {
  override readonly name = 'NoWay';
  readonly tried: readonly string[];

  constructor(tried: readonly string[]) {
    super(tried.join('; '));
    this.tried = tried;
  }
}

const PODS = resourceNamed('pod');
const FRONTS = resourceNamed('service');
/** Kube-OVN's OVN, and Kiln's. */
const SELECTOR = 'app in (ovn-central,kiln-ovn-central)';
/** Kube-OVN marks the leader. */
const LEADER_LABEL = 'ovn-nb-leader';
const FRONT = 'ovn-nb';
const SOCKETS = ['/run/ovn/ovnnb_db.sock', '/var/run/ovn/ovnnb_db.sock'];
const PORT = 6641;
/** A machine outside of the cluster does not reach its addresses: nothing answers. */
const REACH_MS = 1_500;
/** A way that leads there has mostly answered by then. */
const NEXT_AFTER_MS = 250;
/** Contents of a database of hundreds of thousands of rows. */
const MOST_BYTES = 512 * 1_024 * 1_024;

interface CentralPod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly containers?: readonly {
      readonly name: string;
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

/** @throws NoWay */
export async function northboundWay(options: WaysOptions): Promise<NorthboundWay> {
  const tried: string[] = [];
  const { tls } = options;
  const probe = (way: Way, abandoned: AbortSignal): Promise<string | undefined> =>
    probeDatabase(way.ovnNb, { ...way.options, ...(tls === undefined ? {} : { tls }) }, way.timeoutMs, abandoned);
  const socket = (options.sockets ?? SOCKETS).find((path) => existsSync(path));
  if (socket !== undefined) {
    const local = { ...plain, text: `socket ${socket} of this machine`, ovnNb: `unix:${socket}`, timeoutMs: REACH_MS };
    const way = await firstThatAnswers([local], probe, tried);
    if (way !== undefined) return way;
  }
  const { direct, last } = await waysInto(options, tried);
  const way = await firstThatAnswers(direct, probe, tried);
  if (way !== undefined) return way;
  if (options.use === 'writes' && last.length > 0) tried.push('ovsdb-client in the pod: it only reads');
  const reading = options.use === 'writes' ? undefined : await firstThatAnswers(last, probe, tried);
  if (reading === undefined) throw new NoWay(tried);
  return reading;
}

/**
 * Each way begins when the one before it has failed, or has not answered for a moment. Those that are left are given up.
 * @param probe why a way cannot be used; undefined: it answers
 * @param tried gets why each failed, in their order
 */
export async function firstThatAnswers<W extends { readonly text: string }>(
  all: readonly W[],
  probe: (way: W, abandoned: AbortSignal) => Promise<string | undefined>,
  tried: string[],
  patienceMs = NEXT_AFTER_MS,
): Promise<W | undefined> {
  const abandoned = new AbortController();
  const problems = new Map<W, string>();
  let answer: W | undefined;
  const ends: Promise<void>[] = [];
  let found = (): void => undefined;
  const answered = new Promise<void>((done) => (found = done));
  for (const way of all) {
    const end = probe(way, abandoned.signal)
      .catch((cause: unknown) => (cause instanceof Error ? cause.message : String(cause)))
      .then((problem) => {
        if (problem !== undefined) problems.set(way, problem);
        else {
          answer ??= way;
          found();
        }
      });
    ends.push(end);
    const moment = new AbortController();
    await Promise.race([end, answered, sleep(patienceMs, undefined, { signal: moment.signal }).catch(() => undefined)]);
    moment.abort();
    if (answer !== undefined) break;
  }
  await Promise.race([answered, Promise.all(ends)]);
  abandoned.abort();
  if (answer === undefined) tried.push(...all.map((way) => `${way.text}: ${problems.get(way) ?? ''}`));
  return answer;
}

type Way = NorthboundWay & { readonly timeoutMs: number };

const plain: Pick<NorthboundWay, 'options' | 'isFound'> = { options: {}, isFound: true };

/** @param tried gets what may not be asked, and what is missing @returns `last`: only if no other leads there, since it costs a program in the pod */
async function waysInto(
  options: WaysOptions,
  tried: string[],
): Promise<{ readonly direct: readonly Way[]; readonly last: readonly Way[] }> {
  const { client, connection, namespace, tls, timeoutMs } = options;
  const direct: Way[] = [];
  const last: Way[] = [];
  const [pods, front] = await Promise.all([
    asked(`pods of OVN in ${namespace}`, tried, () => client.listAll<CentralPod>(PODS, { namespace, labelSelector: SELECTOR })),
    asked(`${FRONTS.kind} ${namespace}/${FRONT}`, tried, () =>
      client.find<KubeObject & { readonly spec?: { readonly clusterIP?: string } }>(FRONTS, { namespace, name: FRONT }),
    ),
  ]);
  const running = (pods ?? [])
    .filter(({ status }) => status?.phase === 'Running')
    .toSorted((a, b) => Number(isLeader(b)) - Number(isLeader(a)));
  const isTls = running.some(({ spec }) =>
    spec?.containers?.some(
      ({ name, env }) => name.startsWith('ovn-central') && env?.some((one) => one.name === 'ENABLE_SSL' && one.value === 'true'),
    ),
  );
  const isOfKiln = running.some(({ metadata }) => metadata.labels?.['app'] === 'kiln-ovn-central');
  const scheme = isTls || isOfKiln ? 'ssl' : 'tcp';
  const canConnect = scheme === 'tcp' || tls !== undefined;
  if (!canConnect) tried.push('its ports use TLS: --ovn-ca, --ovn-cert and --ovn-key are not given');
  const address = front?.spec?.clusterIP;
  if (canConnect && address !== undefined && address !== '' && address !== 'None')
    direct.push({
      ...plain,
      text: `${FRONTS.kind} ${namespace}/${FRONT}`,
      ovnNb: `${scheme}:${hostText(address)}:${PORT}`,
      timeoutMs: REACH_MS,
    });
  if (pods !== undefined && running.length === 0) tried.push(`no pod of OVN runs in namespace ${namespace} (${SELECTOR})`);
  for (const { metadata, status } of canConnect ? running : []) {
    const pod = { namespace, name: metadata.name };
    if (status?.podIP !== undefined)
      direct.push({
        ...plain,
        text: `the address of pod ${namespace}/${metadata.name}`,
        ovnNb: `${scheme}:${hostText(status.podIP)}:${PORT}`,
        timeoutMs: REACH_MS,
      });
    if (scheme === 'tcp')
      direct.push({
        ...plain,
        text: `port-forward to pod ${namespace}/${metadata.name}`,
        ovnNb: `tcp:${metadata.name}:${PORT}`,
        options: { leaderOnly: false, dial: portDial(connection, pod) },
        timeoutMs,
      });
  }
  for (const { metadata, spec } of running) {
    const container = spec?.containers?.find(({ name }) => name.includes('ovn-central')) ?? spec?.containers?.[0];
    if (container === undefined) continue;
    last.push({
      ...plain,
      text: `ovsdb-client in pod ${namespace}/${metadata.name}`,
      ovnNb: `tcp:${metadata.name}:${PORT}`,
      options: { leaderOnly: false, dial: clientDial(connection, { namespace, name: metadata.name }, container.name, timeoutMs) },
      timeoutMs,
    });
  }
  return { direct, last };
}

function resourceNamed(kind: string): Resource {
  const resource = resourceOfKind(kind);
  if (resource === undefined) throw new Error(`${kind} is no kind`);
  return traitsOf(resource);
}

function isLeader({ metadata }: CentralPod): boolean {
  return metadata.labels?.[LEADER_LABEL] === 'true';
}

function hostText(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Undefined, and noted, where it may not be read: another way may still lead there. */
async function asked<T>(what: string, tried: string[], ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!isKubeError(error, 'KUBE_FORBIDDEN')) throw error;
    tried.push(`${what}: ${error.message}`);
    return undefined;
  }
}

function portDial(connection: Connection, pod: PodName): Dial {
  return (endpoint, _tls, timeoutMs, _clock, onOpen, onFailed) => {
    let isOver = false;
    // Only these ways load a WebSocket.
    const opened = import('../../kube/pods/pod-port.ts').then(({ openPodPort }) => openPodPort(connection, pod, PORT, timeoutMs));
    opened.then(
      (stream) => {
        if (isOver) stream.destroy();
        else onOpen(stream);
      },
      (cause: unknown) => {
        if (!isOver) onFailed(failed(cause, endpoint.text));
      },
    );
    return { cancel: () => (isOver = true) };
  };
}

/** `ovsdb-client` reads over the socket of the pod, which has no TLS: a schema, and selects. */
function clientDial(connection: Connection, pod: PodName, container: string, timeoutMs: number): Dial {
  const run = async (...words: readonly string[]): Promise<string> =>
    (await import('../../kube/pods/pod-command.ts')).runInPod(connection, {
      ...pod,
      container,
      command: ['ovsdb-client', ...words],
      timeoutMs,
      mostBytes: MOST_BYTES,
    });
  const server = `unix:${SOCKETS[1] ?? ''}`;
  return snapshotDial({
    schema: (database) => run('--no-leader-only', 'get-schema', server, database),
    select: (database, operations) => run('--no-leader-only', 'transact', server, JSON.stringify([database, ...operations])),
  });
}

function failed(cause: unknown, endpoint: string): OvsdbError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OvsdbError('OVSDB_CONNECT_FAILED', `cannot connect to ${endpoint}: ${why}`, { cause, endpoint });
}
