/** A member of OVN's central part: both databases, their ports for clients, and northd, on one node. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import { ChildProgram } from './child-program.ts';
import { ClientDoor } from './client-door.ts';
import type { ClusterRecord, SharedRecord } from './cluster-record.ts';
import { DATABASE_NAMES, DATABASES, type DatabaseName, type KeyFiles, northdCommand, type Places } from './databases.ts';
import { clusterKeys, firstStage, type KeyStage, nextStage } from './key-stages.ts';
import type { Material, MemberKeys } from './keys.ts';
import { MemberDatabase } from './member-database.ts';

export interface MemberOptions {
  /** Name of its Node. */
  readonly node: string;
  readonly address: string;
  readonly places: Places;
  readonly shared: SharedRecord;
  readonly log: Log;
  readonly wallTime: () => number;
}

const LOOK_MS = 2_000;
const RETRY_MS = 2_000;
/** Files of the member. */
const KEYS = 'tls/keys.json';
const STAGE = 'tls/stage';

export class Member {
  readonly #options: MemberOptions;
  readonly #databases: readonly MemberDatabase[];
  readonly #doors: Readonly<Record<DatabaseName, ClientDoor>>;
  readonly #northd: ChildProgram;
  readonly #stopped = new AbortController();
  #members: readonly string[] = [];
  #keys: MemberKeys | undefined;
  #stage: KeyStage | undefined;
  /** The stage that the other members know of. */
  #recorded: KeyStage | undefined;
  #waitingFor = 'the member has not begun';

  constructor(options: MemberOptions) {
    this.#options = options;
    const { node, address, places, shared, log, wallTime } = options;
    this.#databases = DATABASE_NAMES.map((name) => new MemberDatabase({ name, node, address, places, shared, log, wallTime }));
    const door = (name: DatabaseName): ClientDoor => {
      const { schema, port, socket } = DATABASES[name];
      return new ClientDoor({ schema, address, port, socket: join(places.runDirectory, socket), log });
    };
    this.#doors = { nb: door('nb'), sb: door('sb') };
    this.#northd = new ChildProgram('ovn-northd', log);
  }

  get databases(): readonly MemberDatabase[] {
    return this.#databases;
  }

  /** Whether keys of clients are still good enough to take part in the clusters: only while the members of an earlier release are replaced. */
  get acceptsOldKeys(): boolean {
    return this.#stage !== undefined && this.#stage !== 'requires';
  }

  /** What is missing until the member serves; empty when it does. */
  get waitingFor(): readonly string[] {
    if (this.#waitingFor !== '') return [this.#waitingFor];
    const northd = this.#northd.running ? [] : ['ovn-northd does not run'];
    const parts = [...this.#databases, ...Object.values(this.#doors)];
    return [...parts.flatMap(({ problem }) => problem ?? []), ...northd];
  }

  /** Runs until `stop`. What fails is logged and tried again. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    let begun = false;
    while (!signal.aborted) {
      try {
        begun ||= await this.#begin();
        if (begun) await this.#look();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        if (!begun) this.#waitingFor = why;
        this.#options.log.warn('a step failed; it is tried again', { error: why });
      }
      await sleep(begun ? LOOK_MS : RETRY_MS, undefined, { signal }).catch(() => {});
    }
    await this.#northd.stop();
    // Clients go to another member before this one's databases end.
    for (const door of Object.values(this.#doors)) door.close();
    for (const database of this.#databases) await database.stop();
  }

  /** Ends `run`, after its programs. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Starts the programs. @returns whether they were started */
  async #begin(): Promise<boolean> {
    const { shared, node, address, places, wallTime } = this.#options;
    await mkdir(places.directory, { recursive: true });
    // A kubelet that makes it lets everybody in.
    await chmod(places.directory, 0o700);
    await mkdir(places.runDirectory, { recursive: true });
    // A member that has its files starts without an API server: after a power failure everything comes back in any order.
    const isWhole = ['members.json', KEYS].every((name) => existsSync(this.#path(name))) && this.#databases.every(({ hasFile }) => hasFile);
    const kept = await readFile(this.#path(STAGE), 'utf8').catch(() => undefined);
    let stage = kept as KeyStage | undefined;
    let record: ClusterRecord | undefined;
    try {
      this.#members = await shared.members();
      if (!this.#members.includes(address))
        throw new Error(`no Node with a member has the address ${address}, which --address gives: ${this.#members.join(', ') || 'none'}`);
      record = await shared.foundedBy(node, this.#members);
      this.#keys = await shared.keys(wallTime());
      stage = firstStage(this.#keys, await shared.keyStages(), address, stage);
      await mkdir(this.#path('tls'), { recursive: true, mode: 0o700 });
      const { cluster, hadOthers, members } = this.#keys;
      await this.#write(KEYS, JSON.stringify({ cluster, hadOthers, members }));
      await this.#remember(this.#members);
    } catch (error) {
      if (!isWhole) throw error;
      this.#options.log.warn('the member starts with what it had', { error: error instanceof Error ? error.message : String(error) });
      this.#members = JSON.parse(await readFile(this.#path('members.json'), 'utf8')) as readonly string[];
      this.#keys = JSON.parse(await readFile(this.#path(KEYS), 'utf8')) as MemberKeys;
    }
    await this.#writeFiles('northd', materialOf(this.#keys.members, 'northd'));
    await this.#useStage(stage ?? 'requires');
    for (const database of this.#databases) await database.start(record, this.#members);
    this.#waitingFor = '';
    return true;
  }

  async #look(): Promise<void> {
    const { shared, places, address } = this.#options;
    const listed = await shared.members().catch(() => undefined);
    // A list without the member itself is not the list of members.
    const members = listed?.includes(address) === true ? listed : undefined;
    if (members !== undefined && members.join() !== this.#members.join()) {
      this.#members = members;
      await this.#remember(members);
    }
    // What fails for one (no API server, for the record) must not hold up the rest.
    const failures: unknown[] = [];
    for (const database of this.#databases) {
      await database.look(members).catch((error: unknown) => failures.push(error));
      this.#openDoor(database.name);
    }
    await this.#northd.run(northdCommand(places, this.#keyFiles('northd'), this.#members));
    await this.#changeKeys().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  #openDoor(name: DatabaseName): void {
    const { members = {} } = this.#keys ?? {};
    const { key = '', cert = '', cacert = '' } = materialOf(members, name);
    this.#doors[name].open({ key, certificate: cert, authorities: cacert, central: members['nb-cacert'] ?? '' });
  }

  /** After an upgrade of a release whose members had the authorities of clients. */
  async #changeKeys(): Promise<void> {
    const { shared, address, log } = this.#options;
    if (this.#stage === undefined || this.#recorded === 'requires' || this.waitingFor.length > 0) return;
    if (this.#recorded !== this.#stage) await shared.recordKeyStage(address, this.#stage);
    this.#recorded = this.#stage;
    const next = nextStage(await shared.keyStages(), this.#members, address);
    if (next === undefined) return;
    log.info("the keys among members change; both databases' servers of this member start again", { from: this.#stage, to: next });
    await this.#useStage(next);
  }

  async #useStage(stage: KeyStage): Promise<void> {
    for (const database of this.#databases) {
      const part = `${database.name}-${stage}` as const;
      await this.#writeFiles(part, clusterKeys(this.#keys as MemberKeys, database.name, stage));
      await database.useKeys(this.#keyFiles(part));
    }
    await this.#write(STAGE, stage);
    this.#stage = stage;
  }

  #keyFiles(part: string): KeyFiles {
    const file = (what: string): string => this.#path(`tls/${part}-${what}`);
    return { key: file('key'), certificate: file('cert'), authorities: file('cacert') };
  }

  async #writeFiles(part: string, material: Material): Promise<void> {
    for (const [what, text] of Object.entries(material)) await this.#write(`tls/${part}-${what}`, text);
  }

  async #remember(members: readonly string[]): Promise<void> {
    await this.#write('members.json', JSON.stringify(members));
  }

  async #write(name: string, text: string): Promise<void> {
    const file = this.#path(name);
    if ((await readFile(file, 'utf8').catch(() => undefined)) === text) return;
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  #path(name: string): string {
    return join(this.#options.places.directory, name);
  }
}

/** `key`, `cert` and `cacert` of a part. */
function materialOf(all: Material, part: DatabaseName | 'northd'): Material {
  return Object.fromEntries(['key', 'cert', 'cacert'].map((what) => [what, all[`${part}-${what}`] ?? '']));
}
