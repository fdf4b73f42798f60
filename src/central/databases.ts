/** The two databases of OVN's central part, and the arguments of its programs. Ports, sockets and names are those that every tool of OVN expects. */

export type DatabaseName = 'nb' | 'sb';
export const DATABASE_NAMES: readonly DatabaseName[] = ['nb', 'sb'];

export interface Database {
  /** In OVSDB. */
  readonly schema: string;
  readonly schemaFile: string;
  /** Of clients. */
  readonly port: number;
  /** Of the members among themselves. */
  readonly clusterPort: number;
  readonly file: string;
  readonly socket: string;
  readonly control: string;
}

export const DATABASES: Readonly<Record<DatabaseName, Database>> = {
  nb: {
    schema: 'OVN_Northbound',
    schemaFile: 'ovn-nb.ovsschema',
    port: 6641,
    clusterPort: 6643,
    file: 'ovnnb_db.db',
    socket: 'ovnnb_db.sock',
    control: 'ovnnb_db.ctl',
  },
  sb: {
    schema: 'OVN_Southbound',
    schemaFile: 'ovn-sb.ovsschema',
    port: 6642,
    clusterPort: 6644,
    file: 'ovnsb_db.db',
    socket: 'ovnsb_db.sock',
    control: 'ovnsb_db.ctl',
  },
};

/** Where a member has its files. */
export interface Places {
  /** Of databases and keys: on a disk that outlives the member's process. */
  readonly directory: string;
  /** Of sockets. */
  readonly runDirectory: string;
  /** With OVN's schemas. */
  readonly schemas: string;
}

/** The files of a key, its certificate and the authorities that it trusts. */
export interface KeyFiles {
  readonly key: string;
  readonly certificate: string;
  readonly authorities: string;
}

/** A program of OVN with its arguments. */
export type Command = readonly [string, ...string[]];

/** `ssl:10.0.0.1:6643`, `ssl:[fd00::1]:6643` */
export function endpoint(address: string, port: number): string {
  return `ssl:${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The address in an endpoint. */
export function addressIn(text: string): string {
  return text
    .replace(/^\w+:/, '')
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '');
}

/** Endpoints of all members, as clients take them. */
export function endpoints(name: DatabaseName, addresses: readonly string[]): string {
  return addresses.map((address) => endpoint(address, DATABASES[name].port)).join(',');
}

/** A leader that is slow for this long is replaced. OVN's default of 1000 ms is too short for a busy disk. */
const ELECTION_MS = 5_000;

/** Makes the file of the first member. */
export function createCommand(name: DatabaseName, { directory, schemas }: Places, address: string): Command {
  const { file, schemaFile, clusterPort } = DATABASES[name];
  const own = endpoint(address, clusterPort);
  return ['ovsdb-tool', `--election-timer=${ELECTION_MS}`, 'create-cluster', `${directory}/${file}`, `${schemas}/${schemaFile}`, own];
}

/** Makes the file of a further member; the server then asks `others` to take it. @param id of the cluster, if it is known */
export function joinCommand(
  name: DatabaseName,
  { directory }: Places,
  address: string,
  others: readonly string[],
  id: string | undefined,
): Command {
  const { file, schema, clusterPort } = DATABASES[name];
  const remotes = others.map((other) => endpoint(other, clusterPort));
  const cluster = id === undefined ? [] : [`--cid=${id}`];
  return ['ovsdb-tool', ...cluster, 'join-cluster', `${directory}/${file}`, schema, endpoint(address, clusterPort), ...remotes];
}

/** Runs a database. Its only port is that of members; clients come by its socket (`client-door.ts`), and no row of it opens another. */
export function serverCommand(name: DatabaseName, { directory, runDirectory }: Places, keys: KeyFiles): Command {
  const { file, socket, control } = DATABASES[name];
  return [
    'ovsdb-server',
    '-vconsole:info',
    '-vsyslog:off',
    '-vfile:off',
    `--remote=punix:${runDirectory}/${socket}`,
    `--unixctl=${runDirectory}/${control}`,
    ...keyArguments(keys),
    `${directory}/${file}`,
  ];
}

/** Translates Northbound into Southbound; of those of all members, one works. */
export function northdCommand({ runDirectory }: Places, keys: KeyFiles, addresses: readonly string[]): Command {
  return [
    'ovn-northd',
    '-vconsole:info',
    '-vsyslog:off',
    '-vfile:off',
    `--ovnnb-db=${endpoints('nb', addresses)}`,
    `--ovnsb-db=${endpoints('sb', addresses)}`,
    `--unixctl=${runDirectory}/ovn-northd.ctl`,
    ...keyArguments(keys),
  ];
}

function keyArguments({ key, certificate, authorities }: KeyFiles): readonly string[] {
  return [`--private-key=${key}`, `--certificate=${certificate}`, `--ca-cert=${authorities}`];
}
