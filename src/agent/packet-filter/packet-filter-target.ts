/**
 * The agent's table of nftables as a target. It is replaced as a whole, in one transaction of the kernel. Other tables are never touched, and a
 * program that flushes all rules gets this one back.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../target/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { PacketFilterOutput } from '../world/outputs.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Retries } from '../retries.ts';
import { scriptHash } from './script-hash.ts';

export const TABLE = 'inet kiln';
/** Another program may have removed or changed the table. */
const LIST_MS = 5_000;
const ID = 'packet-filter';

export interface PacketFilterTargetOptions {
  readonly programs: Programs;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

/** The table as the kernel shows it. */
interface Observed {
  /** Empty if it does not exist. */
  readonly listing: string;
  /** Of the script that made it, from its comment. */
  readonly hash: string | undefined;
}

export class PacketFilterTarget implements Target {
  readonly name = 'nftables';
  readonly busy = false;
  readonly desired = new KeyedOutputs<PacketFilterOutput>(['packet-filter'], () => ID);
  readonly #options: PacketFilterTargetOptions;
  #seen: Observed | undefined;
  /** How the table looked after the last write, or at the start. */
  #written = '';
  #working = false;
  #timer: TimerHandle;
  #stopped = false;

  constructor(options: PacketFilterTargetOptions) {
    this.#options = options;
  }

  get observed(): boolean {
    return this.#seen !== undefined;
  }

  get quiet(): boolean {
    return !this.#working && this.desired.due.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  start(): void {
    void this.#poll(true);
  }

  stop(): Promise<void> {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    return Promise.resolve();
  }

  examineAll(): void {
    this.desired.due.add(ID);
  }

  plan(): readonly unknown[] {
    const script = this.#missing();
    return script === undefined ? [] : [{ table: TABLE, script }];
  }

  flush(): boolean {
    if (!this.desired.due.has(ID) || this.#working || this.#stopped || this.#options.retries.mustWait(ID)) return true;
    this.desired.due.delete(ID);
    const script = this.#missing();
    if (script !== undefined) void this.#write(script);
    return true;
  }

  /** The script of the table, if the table is not as it should be. */
  #missing(): string | undefined {
    const [output] = this.desired.of(ID);
    if (output === undefined || this.#seen === undefined) return undefined;
    const isSame = this.#seen.hash === scriptHash(output.script) && this.#seen.listing === this.#written;
    return isSame ? undefined : output.script;
  }

  async #write(script: string): Promise<void> {
    const { programs, retries, log, wake } = this.#options;
    this.#working = true;
    // The first line makes the second one possible where there is no table yet.
    const input = `add table ${TABLE}\ndelete table ${TABLE}\ntable ${TABLE} {\n  comment "${scriptHash(script)}"\n${script}\n}\n`;
    const ran = await programs.run(['nft', '-f', '-'], input);
    if (ran.ok) {
      retries.succeeded(ID);
      // Another program may have changed it since: the next diff compares with what is.
      this.desired.due.add(ID);
      this.#seen = await this.#list();
      this.#written = this.#seen?.listing ?? '';
    } else {
      log.warn('the table of nftables could not be written; it will be tried again', { reason: ran.message });
      this.desired.due.add(ID);
      retries.failed(ID, `nft: ${ran.message}`);
    }
    this.#working = false;
    wake();
  }

  async #poll(first = false): Promise<void> {
    const { clock, wake } = this.#options;
    const listed = this.#working ? undefined : await this.#list();
    if (listed !== undefined && !this.#working) {
      if (this.#seen === undefined || listed.listing !== this.#seen.listing) this.desired.due.add(ID);
      this.#seen = listed;
      if (first) this.#written = listed.listing;
    }
    if (this.#stopped) return;
    this.#timer = clock.setTimeout(() => void this.#poll(this.#seen === undefined), LIST_MS);
    wake();
  }

  /** Undefined if the kernel cannot be asked. */
  async #list(): Promise<Observed | undefined> {
    const { programs, log } = this.#options;
    const ran = await programs.run(['nft', '--stateless', 'list', 'table', ...TABLE.split(' ')]);
    if (ran.ok) return { listing: ran.output, hash: /^\s*comment "([0-9a-f]+)"/m.exec(ran.output)?.[1] };
    if (/No such file or directory/.test(ran.message)) return { listing: '', hash: undefined };
    log.warn('the tables of nftables could not be listed', { reason: ran.message });
    return undefined;
  }
}
