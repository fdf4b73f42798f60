/** Rules and tables of routes by source, as a target: other programs flush them. */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { KernelChange } from '../listing/kernel-change.ts';
import { ListedTarget } from '../listing/listed-target.ts';
import type { RoutingOutput } from '../world/outputs.ts';
import type { Programs } from './programs.ts';
import type { Ran } from './ran.ts';
import { FAMILIES, listCommand, listedTexts, PROTOCOL, type RoutingLine, routingLines } from './routing-commands.ts';

const ID = 'routing';
const PARTS = ['rule', 'route'] as const;

/** Lines for `ip -batch` of one family. */
interface FamilyLines {
  readonly family: 4 | 6;
  readonly lines: readonly string[];
}

export class RoutingTarget extends ListedTarget<RoutingOutput, readonly RoutingLine[], readonly FamilyLines[]> {
  readonly name = 'the rules of routing';
  readonly desired = new KeyedOutputs<RoutingOutput>(['routing'], () => ID);
  // On a node that has none and needs none nothing is listed for a change.
  protected readonly concerns = (change: KernelChange): boolean =>
    (this.#isPresent || this.desired.of(ID).length > 0) && concernsRouting(change);
  #isPresent = false;

  protected override identities(): Iterable<string> {
    return [ID];
  }

  protected async list(): Promise<readonly RoutingLine[]> {
    return await listRouting(this.programs);
  }

  protected override taken(seen: readonly RoutingLine[]): void {
    this.#isPresent = seen.length > 0;
  }

  protected changeFor(id: string, seen: readonly RoutingLine[]): readonly FamilyLines[] | undefined {
    const texts = new Map(this.desired.of(id).map((line) => [`${line.family} ${line.part} ${line.text}`, line]));
    const wanted = [...texts.values()];
    const changes = FAMILIES.map((family) => ({ family, lines: routingLines(family, wanted, seen) })).filter(
      ({ lines }) => lines.length > 0,
    );
    return changes.length === 0 ? undefined : changes;
  }

  protected async write(changes: readonly FamilyLines[]): Promise<Ran> {
    const messages: string[] = [];
    for (const { family, lines } of changes) {
      // One line that the kernel refuses (a gateway that is not reached) keeps no other from its effect.
      const ran = await this.programs.run(['ip', '-force', `-${family}`, '-batch', '-'], `${lines.join('\n')}\n`);
      if (!ran.ok) messages.push(ran.message);
    }
    return messages.length === 0 ? { ok: true, output: '' } : { ok: false, message: messages.join('; ') };
  }
}

/** A route goes in silence when its device goes down or loses its address. */
function concernsRouting({ part, text, ofPod }: KernelChange): boolean {
  if (part === 'ROUTE') return text.includes(` proto ${PROTOCOL} `);
  return part === 'RULE' || ((part === 'LINK' || part === 'ADDR') && !ofPod);
}

/** Rules and routes with our protocol. @throws Error if the kernel cannot be asked */
export async function listRouting(programs: Programs): Promise<readonly RoutingLine[]> {
  const lines: RoutingLine[] = [];
  for (const family of FAMILIES)
    for (const part of PARTS) {
      const ran = await programs.run(listCommand(family, part));
      // A kernel without IPv6 has nothing to list of it.
      if (!ran.ok && family === 6) continue;
      if (!ran.ok) throw new Error(ran.message);
      const listed: unknown = ran.output.trim() === '' ? [] : JSON.parse(ran.output);
      lines.push(...listedTexts(part, listed).map((text) => ({ family, part, text })));
    }
  return lines;
}
