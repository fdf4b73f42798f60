/**
 * The node's own interfaces as a target: which addresses and routes are on an interface of a ProviderNetwork, and which on its bridge. Another
 * program may put an address back to the interface.
 */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import { equal } from '../../engine/equal.ts';
import type { HostNetwork } from '../kernel/host-network.ts';
import type { Programs } from '../kernel/programs.ts';
import type { Ran } from '../kernel/ran.ts';
import type { KernelChange } from '../listing/kernel-change.ts';
import { ListedTarget, type ListedTargetOptions } from '../listing/listed-target.ts';
import { HOST_LINKS, type NodeWorld } from '../world/node-world.ts';
import type { HostLinkOutput } from '../world/outputs.ts';
import type { HostLink } from '../world/device-network.ts';
import { hostDetails, hostLinks, LINK_DETAILS } from './host-links.ts';
import { type RouteHolders, routeHolders } from './route-lines.ts';
import { hostLinkLines } from './uplink-commands.ts';

export const HOST_LINK_KINDS: readonly HostLinkOutput['kind'][] = ['move', 'renamed-link', 'used-link', 'vlan-link', 'absent-link'];

export interface UplinkTargetOptions extends ListedTargetOptions {
  readonly world: NodeWorld;
  readonly host: HostNetwork;
}

export interface HostLinks {
  readonly links: ReadonlyMap<string, HostLink>;
  readonly holders: RouteHolders;
}

export class UplinkTarget extends ListedTarget<HostLinkOutput, HostLinks, readonly string[]> {
  readonly name = 'the interfaces of the node';
  readonly desired = new KeyedOutputs<HostLinkOutput>(HOST_LINK_KINDS, hostLinkId);
  protected readonly concerns = concernsUplinks;
  readonly #world: NodeWorld;
  readonly #host: HostNetwork;

  constructor(options: UplinkTargetOptions) {
    super(options);
    this.#world = options.world;
    this.#host = options.host;
  }

  protected async list(): Promise<HostLinks> {
    return await observeHostLinks(this.programs, this.#host);
  }

  protected override taken({ links }: HostLinks): void {
    const { hostLinks: table } = this.#world;
    for (const name of [...table.keys()]) if (!links.has(name)) table.delete(name);
    for (const [name, link] of links) if (!equal(table.peek(name), link)) table.set(name, link);
  }

  protected override outdated(isOutdated: boolean): void {
    const { outdated } = this.#world;
    if (isOutdated) outdated.set(HOST_LINKS, true);
    else outdated.delete(HOST_LINKS);
  }

  /** Lines for `ip -batch`. */
  protected changeFor(id: string, seen: HostLinks): readonly string[] | undefined {
    const [output] = this.desired.of(id);
    if (output === undefined) return undefined;
    const lines = hostLinkLines(output, seen.links, isBusy(this.#world.failures.peek(id)), seen.holders);
    return lines.length === 0 ? undefined : lines;
  }

  /** One process, which ends its work also if the agent is killed meanwhile. */
  protected async write(lines: readonly string[]): Promise<Ran> {
    // An address or a route that came since the last list would be lost with the move: the rules see it first.
    const seen = await this.list().catch((error: unknown) => String(error));
    if (typeof seen === 'string') return { ok: false, message: seen };
    const { links } = seen;
    const devices = new Set(lines.flatMap((line) => / dev (\S+)/.exec(line)?.[1] ?? []));
    const changed = [...devices].find((name) => !equal(this.#world.hostLinks.peek(name), links.get(name)));
    if (changed !== undefined) return { ok: false, message: `addresses or routes of ${changed} changed meanwhile` };
    return await this.programs.run(['ip', '-batch', '-'], `${lines.join('\n')}\n`);
  }

  protected override reason(message: string): string {
    // One line for each line of input: an annotation has one.
    return `ip: ${message.trim().replaceAll(/\s*\n\s*/g, '; ')}`;
  }
}

/** An interface that is up cannot be renamed before Linux 6.2: "Device or resource busy". */
export function isBusy(failure: string | undefined): boolean {
  return failure !== undefined && /busy/i.test(failure);
}

function concernsUplinks({ part, ofPod }: KernelChange): boolean {
  return (part === 'LINK' || part === 'ADDR' || part === 'ROUTE') && !ofPod;
}

/** @throws Error with the reason if the kernel cannot be asked */
export async function observeHostLinks(programs: Programs, host: HostNetwork): Promise<HostLinks> {
  const ran = await programs.run(LINK_DETAILS.command, LINK_DETAILS.input);
  if (!ran.ok) throw new Error(ran.message);
  const state = await host.read();
  return { links: hostLinks(state, hostDetails(ran.output)), holders: routeHolders(state) };
}

/** One for each device that is changed; no device is in two of them at a time. */
export function hostLinkId(output: HostLinkOutput): string {
  switch (output.kind) {
    case 'move':
      return `move ${output.to}`;
    case 'renamed-link':
      return `rename ${output.to}`;
    case 'used-link':
      return `up ${output.name}`;
    case 'vlan-link':
      return `vlan ${output.name}`;
    case 'absent-link':
      return `no link ${output.name}`;
  }
}
