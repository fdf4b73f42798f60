/**
 * The node's own interfaces as a target: which addresses and routes are on an interface of a ProviderNetwork, and which on its bridge. Another
 * program may put an address back to the interface.
 */
import { KeyedOutputs } from '../../compile/keyed-outputs.ts';
import { equal } from '../../world/equal.ts';
import type { HostNetwork } from '../kernel/host-network.ts';
import type { Ran } from '../kernel/ran.ts';
import type { KernelChange } from '../listing/kernel-change.ts';
import { ListedTarget, type ListedTargetOptions } from '../listing/listed-target.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { MoveOutput } from '../world/outputs.ts';
import type { HostLink } from '../world/device-network.ts';
import { hostLinks } from './host-links.ts';
import { moveLines } from './uplink-commands.ts';

export interface UplinkTargetOptions extends ListedTargetOptions {
  readonly world: NodeWorld;
  readonly host: HostNetwork;
}

type HostLinks = ReadonlyMap<string, HostLink>;

export class UplinkTarget extends ListedTarget<MoveOutput, HostLinks, readonly string[]> {
  readonly name = 'the interfaces of the node';
  readonly desired = new KeyedOutputs<MoveOutput>(['move'], moveId);
  protected readonly concerns = concernsUplinks;
  readonly #world: NodeWorld;
  readonly #host: HostNetwork;

  constructor(options: UplinkTargetOptions) {
    super(options);
    this.#world = options.world;
    this.#host = options.host;
  }

  protected async list(): Promise<HostLinks> {
    return hostLinks(await this.#host.read());
  }

  protected override taken(seen: HostLinks): void {
    const { hostLinks: table } = this.#world;
    for (const name of [...table.keys()]) if (!seen.has(name)) table.delete(name);
    for (const [name, link] of seen) if (!equal(table.peek(name), link)) table.set(name, link);
  }

  /** Lines for `ip -batch`. */
  protected changeFor(id: string, seen: HostLinks): readonly string[] | undefined {
    const [output] = this.desired.of(id);
    if (output === undefined) return undefined;
    const { from, to, network } = output;
    const [source, target] = [seen.get(from), seen.get(to)];
    // Open vSwitch has not made the bridge's device yet, or the interface is gone.
    if (target === undefined) return undefined;
    const lines = moveLines(from, to, network, source ?? { addresses: [], routes: [] }, target);
    return lines.length === 0 ? undefined : lines;
  }

  /** One process, which ends its work also if the agent is killed meanwhile. */
  protected async write(lines: readonly string[]): Promise<Ran> {
    return await this.programs.run(['ip', '-batch', '-'], `${lines.join('\n')}\n`);
  }

  protected override reason(message: string): string {
    return `ip: ${message}`;
  }
}

function concernsUplinks({ part, ofPod }: KernelChange): boolean {
  return (part === 'LINK' || part === 'ADDR' || part === 'ROUTE') && !ofPod;
}

/** One for each target device. */
export function moveId({ to }: Pick<MoveOutput, 'to'>): string {
  return `move ${to}`;
}
