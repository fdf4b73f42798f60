/**
 * The agent's table of nftables as a target. It is replaced as a whole, in one transaction of the kernel. Other tables are never touched, and a
 * program that flushes all rules gets this one back.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import type { Ran } from '../kernel/programs.ts';
import { ListedTarget } from '../listing/listed-target.ts';
import type { PacketFilterOutput } from '../world/outputs.ts';
import { scriptHash } from './script-hash.ts';

export const TABLE = 'inet kiln';
const ID = 'packet-filter';

/** The table as the kernel shows it. */
interface Observed {
  /** Empty if it does not exist. */
  readonly listing: string;
  /** Of the script that made it, from its comment. */
  readonly hash: string | undefined;
}

export class PacketFilterTarget extends ListedTarget<PacketFilterOutput, Observed, string> {
  readonly name = 'nftables';
  readonly desired = new KeyedOutputs<PacketFilterOutput>(['packet-filter'], () => ID);
  // `nft monitor` would keep the rules of all programs in its memory, and those of kube-proxy may be very many.
  protected readonly concerns = undefined;
  /** How the table looked after the last write, or at the start. */
  #written = '';

  protected async list(): Promise<Observed> {
    const ran = await this.programs.run(['nft', '--stateless', 'list', 'table', ...TABLE.split(' ')]);
    if (ran.ok) return { listing: ran.output, hash: /^\s*comment "([0-9a-f]+)"/m.exec(ran.output)?.[1] };
    if (/No such file or directory/.test(ran.message)) return { listing: '', hash: undefined };
    throw new Error(ran.message);
  }

  protected override taken({ listing }: Observed, isOwn: boolean): void {
    if (isOwn) this.#written = listing;
  }

  /** The script of the table, if the table is not as it should be. */
  protected changeFor(id: string, { hash, listing }: Observed): string | undefined {
    const [output] = this.desired.of(id);
    if (output === undefined) return undefined;
    return hash === scriptHash(output.script) && listing === this.#written ? undefined : output.script;
  }

  protected async write(script: string): Promise<Ran> {
    // The first line makes the second one possible where there is no table yet.
    const input = `add table ${TABLE}\ndelete table ${TABLE}\ntable ${TABLE} {\n  comment "${scriptHash(script)}"\n${script}\n}\n`;
    return await this.programs.run(['nft', '-f', '-'], input);
  }

  protected override reason(message: string): string {
    return `nft: ${message}`;
  }
}
