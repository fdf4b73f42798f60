/**
 * Rules of ours in the filter chains of other programs, as a target. Such a chain exists once its program ran, and a program that loads its rules
 * again loses ours.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Ran } from '../kernel/ran.ts';
import { ListedTarget } from '../listing/listed-target.ts';
import type { AcceptedDeviceOutput } from '../world/outputs.ts';
import { chainLines, FILTER_CHAINS, type FilterChain, type ListedRule, rulesOf } from './other-firewalls.ts';

const ID = 'accepted-device';

type ChainRules = ReadonlyMap<FilterChain, readonly ListedRule[]>;

export class OtherFirewallsTarget extends ListedTarget<AcceptedDeviceOutput, ChainRules, readonly string[]> {
  readonly name = 'the firewalls of other programs';
  readonly desired = new KeyedOutputs<AcceptedDeviceOutput>(['accepted-device'], () => ID);
  // As that of our own table.
  protected readonly concerns = undefined;

  protected override identities(): Iterable<string> {
    return [ID];
  }

  protected async list(): Promise<ChainRules> {
    return await listChains(this.programs);
  }

  /** Lines for `nft -f`. */
  protected changeFor(id: string, seen: ChainRules): readonly string[] | undefined {
    const [output] = this.desired.of(id);
    const lines = Array.from(seen).flatMap(([chain, rules]) => chainLines(chain, output?.device, rules));
    return lines.length === 0 ? undefined : lines;
  }

  protected async write(lines: readonly string[]): Promise<Ran> {
    return await this.programs.run(['nft', '-f', '-'], `${lines.join('\n')}\n`);
  }

  protected override reason(message: string): string {
    return `${message}; if another program owns the table, allow the device there: firewall-cmd --permanent --zone=trusted --add-interface=ovn0`;
  }
}

/**
 * The rules of each chain that exists. Names of tables are few; chains of kube-proxy can be many, so only those that matter are listed.
 * @throws Error if the kernel cannot be asked
 */
export async function listChains(programs: Programs): Promise<ChainRules> {
  const tables = await programs.run(['nft', 'list', 'tables']);
  if (!tables.ok) throw new Error(tables.message);
  const present = new Set(tables.output.split('\n').map((line) => line.replace(/^table /, '').trim()));
  const rules = new Map<FilterChain, readonly ListedRule[]>();
  for (const chain of FILTER_CHAINS) {
    if (!present.has(chain.table)) continue;
    const ran = await programs.run(['nft', '--stateless', '--handle', 'list', 'chain', ...chain.table.split(' '), chain.chain]);
    // The program has not made this chain, or is just loading its rules again.
    if (ran.ok) rules.set(chain, rulesOf(ran.output));
  }
  return rules;
}
