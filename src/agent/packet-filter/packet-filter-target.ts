/**
 * A table of nftables of the agent as a target. It is replaced as a whole, in one transaction of the kernel. Other tables are never touched, and a
 * program that flushes all rules gets this one back.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Ran, Words } from '../kernel/ran.ts';
import { ListedTarget, type ListedTargetOptions } from '../listing/listed-target.ts';
import type { PacketFilterOutput, ProbeFilterOutput } from '../world/outputs.ts';
import { scriptHash } from './script-hash.ts';

/** The agent's tables by what they are for. */
export const TABLES = { 'packet-filter': 'inet kiln', 'probe-filter': 'inet kiln-probes' } as const;

/** The table as the kernel shows it. */
interface Observed {
  /** Empty if it does not exist. */
  readonly listing: string;
  /** Of the script that made it, from its comment. */
  readonly hash: string | undefined;
}

const NO_TABLE: Observed = { listing: '', hash: undefined };
const NFT: Words = ['nft', '-f', '-'];
/** Of so many lists one is made where no table is wanted and none was there. */
const SELDOM = 12;

export interface PacketFilterTargetOptions extends ListedTargetOptions {
  readonly kind: keyof typeof TABLES;
}

export class PacketFilterTarget extends ListedTarget<PacketFilterOutput | ProbeFilterOutput, Observed, string> {
  readonly name: string;
  readonly desired: KeyedOutputs<PacketFilterOutput | ProbeFilterOutput>;
  // `nft monitor` would keep the rules of all programs in its memory, and those of kube-proxy may be very many.
  protected readonly concerns = undefined;
  readonly #id: string;
  readonly #table: string;
  /** How the table looked after the last write, or at the start. */
  #written = '';
  #lists = 0;

  constructor({ kind, ...options }: PacketFilterTargetOptions) {
    super(options);
    this.#id = kind;
    this.#table = TABLES[kind];
    this.name = `nftables (table ${this.#table})`;
    this.desired = new KeyedOutputs([kind], () => kind);
  }

  protected async list(): Promise<Observed> {
    const isIdle = this.desired.of(this.#id)[0]?.script === '' && this.#written === '';
    if (isIdle && this.#lists++ % SELDOM !== 0) return NO_TABLE;
    const ran = await this.programs.run(['nft', '--stateless', 'list', 'table', ...this.#table.split(' ')]);
    if (ran.ok) return { listing: ran.output, hash: /^\s*comment "([0-9a-f]+)"/m.exec(ran.output)?.[1] };
    if (/No such file or directory/.test(ran.message)) return NO_TABLE;
    throw new Error(ran.message);
  }

  protected override taken({ listing }: Observed, isOwn: boolean): void {
    if (isOwn) this.#written = listing;
  }

  /** The script of the table, if the table is not as it should be; empty to remove it. */
  protected changeFor(id: string, { hash, listing }: Observed): string | undefined {
    const [output] = this.desired.of(id);
    if (output === undefined) return undefined;
    if (output.script === '') return listing === '' ? undefined : '';
    return hash === scriptHash(output.script) && listing === this.#written ? undefined : output.script;
  }

  protected async write(script: string): Promise<Ran> {
    const [output] = this.desired.of(this.#id);
    const namespace = output?.kind === 'probe-filter' ? output.cgroupNamespace : undefined;
    const command: Words = namespace === undefined ? NFT : ['nsenter', `--cgroup=${namespace}`, '--', ...NFT];
    return await this.programs.run(command, replacement(this.#table, script));
  }

  protected override reason(message: string): string {
    return `nft: ${message}`;
  }
}

/** For `nft -f`. @param script empty to remove the table */
export function replacement(table: string, script: string): string {
  // The first line makes the second one possible where there is no table yet.
  const removal = `add table ${table}\ndelete table ${table}\n`;
  return script === '' ? removal : `${removal}table ${table} {\n  comment "${scriptHash(script)}"\n${script}\n}\n`;
}
