/**
 * Rules of ours in the filter chains of other programs, as a target. Such a chain exists once its program ran, and a program that loads its rules
 * again loses ours: they are listed from time to time.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../target/target.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Retries } from '../retries.ts';
import type { AcceptedDeviceOutput } from '../world/outputs.ts';
import { chainLines, FILTER_CHAINS, type FilterChain, type ListedRule, ourRules } from './other-firewalls.ts';

const LIST_MS = 5_000;
const ID = 'accepted-device';

export interface OtherFirewallsTargetOptions {
  readonly programs: Programs;
  readonly retries: Retries;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: () => void;
}

export class OtherFirewallsTarget implements Target {
  readonly name = 'the firewalls of other programs';
  readonly busy = false;
  readonly desired = new KeyedOutputs<AcceptedDeviceOutput>(['accepted-device'], () => ID);
  readonly #options: OtherFirewallsTargetOptions;
  #present: ReadonlyMap<FilterChain, readonly ListedRule[]> | undefined;
  #working = false;
  #timer: TimerHandle;
  #stopped = false;

  constructor(options: OtherFirewallsTargetOptions) {
    this.#options = options;
  }

  get observed(): boolean {
    return this.#present !== undefined;
  }

  get quiet(): boolean {
    return !this.#working && this.desired.due.size === 0;
  }

  get waitingFor(): readonly string[] {
    return this.observed ? [] : [this.name];
  }

  start(): void {
    void this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.clock.clearTimeout(this.#timer);
    while (this.#working) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  examineAll(): void {
    this.desired.due.add(ID);
  }

  plan(): readonly unknown[] {
    return this.#lines();
  }

  flush(): boolean {
    if (this.desired.due.size === 0 || this.#working || this.#stopped || this.#options.retries.mustWait(ID)) return true;
    this.desired.due.clear();
    const lines = this.#lines();
    if (lines.length > 0) void this.#write(lines);
    else this.#options.retries.succeeded(ID);
    return true;
  }

  #lines(): readonly string[] {
    const [output] = this.desired.of(ID);
    return Array.from(this.#present ?? []).flatMap(([chain, rules]) => chainLines(chain, output?.device, rules));
  }

  async #write(lines: readonly string[]): Promise<void> {
    const { programs, retries, log, wake } = this.#options;
    this.#working = true;
    const ran = await programs.run(['nft', '-f', '-'], `${lines.join('\n')}\n`);
    this.#present = (await this.#list()) ?? this.#present;
    if (ran.ok) retries.succeeded(ID);
    else {
      const reason = `${ran.message}; if another program owns the table, allow the device there: firewall-cmd --permanent --zone=trusted --add-interface=ovn0`;
      log.warn('rules in the firewall of another program could not be written; they will be tried again', { reason });
      this.desired.due.add(ID);
      retries.failed(ID, reason);
    }
    this.#working = false;
    wake();
  }

  async #poll(): Promise<void> {
    const { clock, wake } = this.#options;
    const listed = this.#working ? undefined : await this.#list();
    if (listed !== undefined && !this.#working) {
      this.#present = listed;
      this.desired.due.add(ID);
    }
    if (this.#stopped) return;
    this.#timer = clock.setTimeout(() => void this.#poll(), LIST_MS);
    wake();
  }

  /** Undefined if the kernel cannot be asked. */
  async #list(): Promise<ReadonlyMap<FilterChain, readonly ListedRule[]> | undefined> {
    const { programs, log } = this.#options;
    return await listOurRules(programs).catch((error: unknown) => {
      log.warn('the tables of nftables could not be listed', { reason: error instanceof Error ? error.message : String(error) });
      return undefined;
    });
  }
}

/**
 * Our rules in each chain that exists. Names of tables are few; chains of kube-proxy can be many, so only those that matter are listed.
 * @throws Error if the kernel cannot be asked
 */
export async function listOurRules(programs: Programs): Promise<ReadonlyMap<FilterChain, readonly ListedRule[]>> {
  const tables = await programs.run(['nft', 'list', 'tables']);
  if (!tables.ok) throw new Error(tables.message);
  const present = new Set(tables.output.split('\n').map((line) => line.replace(/^table /, '').trim()));
  const rules = new Map<FilterChain, readonly ListedRule[]>();
  for (const chain of FILTER_CHAINS) {
    if (!present.has(chain.table)) continue;
    const ran = await programs.run(['nft', '--stateless', '--handle', 'list', 'chain', ...chain.table.split(' '), chain.chain]);
    // The program has not made this chain, or is just loading its rules again.
    if (ran.ok) rules.set(chain, ourRules(ran.output));
  }
  return rules;
}
