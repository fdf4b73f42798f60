/** A member of OVN's central part: both databases and northd, on one node. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../runtime/log.ts';
import { ChildProgram } from './child-program.ts';
import type { ClusterRecord, SharedRecord } from './cluster-record.ts';
import { DATABASE_NAMES, type DatabaseName, type KeyFiles, northdCommand, type Places } from './databases.ts';
import type { Material } from './keys.ts';
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

export class Member {
  readonly #options: MemberOptions;
  readonly #databases: readonly MemberDatabase[];
  readonly #northd: ChildProgram;
  readonly #stopped = new AbortController();
  #members: readonly string[] = [];
  #waitingFor = 'the member has not begun';

  constructor(options: MemberOptions) {
    this.#options = options;
    const { node, address, places, shared, log, wallTime } = options;
    this.#databases = DATABASE_NAMES.map(
      (name) => new MemberDatabase({ name, node, address, places, keys: this.#keyFiles(name), shared, log, wallTime }),
    );
    this.#northd = new ChildProgram('ovn-northd', log);
  }

  get databases(): readonly MemberDatabase[] {
    return this.#databases;
  }

  /** What is missing until the member serves; empty when it does. */
  get waitingFor(): readonly string[] {
    if (this.#waitingFor !== '') return [this.#waitingFor];
    const northd = this.#northd.running ? [] : ['ovn-northd does not run'];
    return [...this.#databases.flatMap(({ problem }) => problem ?? []), ...northd];
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
    const isWhole = existsSync(this.#path('members.json')) && this.#databases.every(({ hasFile }) => hasFile);
    let record: ClusterRecord | undefined;
    try {
      this.#members = await shared.members();
      if (!this.#members.includes(address))
        throw new Error(`no Node with a member has the address ${address}, which --address gives: ${this.#members.join(', ') || 'none'}`);
      record = await shared.foundedBy(node, this.#members);
      await this.#writeKeys(await shared.keys(wallTime()));
      await this.#remember(this.#members);
    } catch (error) {
      if (!isWhole) throw error;
      this.#options.log.warn('the member starts with what it had', { error: error instanceof Error ? error.message : String(error) });
      this.#members = JSON.parse(await readFile(this.#path('members.json'), 'utf8')) as readonly string[];
    }
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
    for (const database of this.#databases) await database.look(members).catch((error: unknown) => failures.push(error));
    await this.#northd.run(northdCommand(places, this.#keyFiles('northd'), this.#members));
    if (failures.length > 0) throw failures[0];
  }

  #keyFiles(part: DatabaseName | 'northd'): KeyFiles {
    const file = (what: string): string => this.#path(`tls/${part}-${what}`);
    return { key: file('key'), certificate: file('cert'), authorities: file('cacert') };
  }

  /** Servers read them again when they change. */
  async #writeKeys(material: Material): Promise<void> {
    await mkdir(this.#path('tls'), { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(material)) await this.#write(`tls/${name}`, text);
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
