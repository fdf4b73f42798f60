/** What a server says of its cluster (`cluster/status`, ovsdb-server(1)), and what follows from it. */
import { addressIn } from './databases.ts';

export interface ClusterServer {
  /** The first digits of its id. */
  readonly id: string;
  readonly address: string;
  readonly isSelf: boolean;
  /** Since the last message from it; a leader alone knows. */
  readonly silentMs: number | undefined;
}

export interface ClusterStatus {
  readonly cluster: string | undefined;
  /** The first digits of the server's own id. */
  readonly self: string;
  /** It takes part. */
  readonly isMember: boolean;
  readonly isLeader: boolean;
  readonly knowsLeader: boolean;
  readonly term: number;
  readonly servers: readonly ClusterServer[];
}

const SERVER = /^\s+([0-9a-f]+) \([0-9a-f]+ at (\S+)\)(.*)$/gm;

/** @returns undefined for a text that is not a status */
export function parseClusterStatus(text: string): ClusterStatus | undefined {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';
  const self = /^([0-9a-f]+)/.exec(field('Server ID'))?.[1];
  if (self === undefined) return undefined;
  const servers = [...text.matchAll(SERVER)].map(([, id = '', at = '', rest = '']) => ({
    id,
    address: addressIn(at),
    isSelf: rest.includes('(self)'),
    silentMs: Number(/last msg (\d+) ms ago/.exec(rest)?.[1] ?? Number.NaN),
  }));
  return {
    cluster: /\(([0-9a-f-]{36})\)/.exec(field('Cluster ID'))?.[1],
    self,
    isMember: field('Status') === 'cluster member',
    isLeader: field('Role') === 'leader',
    knowsLeader: field('Leader') !== 'unknown' && field('Leader') !== '',
    term: Number(field('Term')),
    servers: servers.map((server) => ({ ...server, silentMs: Number.isNaN(server.silentMs) ? undefined : server.silentMs })),
  };
}

/** A live server sends several messages in this time. */
const SILENT_MS = 15_000;
/** A machine that restarts is away for some minutes, and its Node object stays meanwhile. */
const GONE_MS = 60_000;

/**
 * The servers that a leader removes from its cluster: those before a member that lost its disk and joined again under the same address, and
 * those on nodes that are no members any more. A cluster counts them when it asks for a majority.
 *
 * @param members addresses of the nodes with members; undefined: not known now
 */
export function serversToRemove(status: ClusterStatus, members: readonly string[] | undefined): readonly ClusterServer[] {
  if (!status.isLeader) return [];
  const others = status.servers.filter(({ isSelf }) => !isSelf);
  const silence = ({ silentMs }: ClusterServer): number => silentMs ?? Number.POSITIVE_INFINITY;
  const own = status.servers.find(({ isSelf }) => isSelf)?.address;
  return others.filter((server) => {
    if (server.address === own) return true;
    const twins = others.filter(({ address, id }) => address === server.address && id !== server.id);
    if (silence(server) > SILENT_MS && twins.some((twin) => silence(twin) < SILENT_MS)) return true;
    return members !== undefined && !members.includes(server.address) && silence(server) > GONE_MS;
  });
}
