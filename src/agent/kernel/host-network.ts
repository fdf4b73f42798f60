/**
 * The node's own devices with their addresses and routes, and changes of them: one run of `ip` does what many ask for at about the same time,
 * and shows what is there afterwards.
 */
import { canonicalAddress } from '../../net/address.ts';
import { failedLines, failureText } from './failed-lines.ts';
import type { Programs } from './programs.ts';

export interface LinkJson {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly ifalias?: string;
  readonly master?: string;
  /** Of a pair with an end in another namespace: the number of that, as `ip monitor` has it too. */
  readonly link_netnsid?: number;
  /** Of its queue: `htb`, `noqueue`. */
  readonly qdisc?: string;
  readonly addr_info?: readonly AddressJson[];
}

export interface AddressJson {
  readonly local?: string;
  /** Of the peer of a link from point to point. */
  readonly address?: string;
  readonly prefixlen?: number;
  readonly scope?: string;
  readonly broadcast?: string;
  /** Of IPv4 alone: the device's name unless another one was given. */
  readonly label?: string;
  readonly metric?: number;
  readonly noprefixroute?: boolean;
  readonly temporary?: boolean;
  /** It has a lifetime. */
  readonly dynamic?: boolean;
  readonly tentative?: boolean;
  readonly dadfailed?: boolean;
}

export interface RouteJson {
  /** Missing for the main one. */
  readonly table?: string;
  /** Missing for `unicast`. */
  readonly type?: string;
  readonly dst?: string;
  readonly gateway?: string;
  /** A next hop of the other family. */
  readonly via?: { readonly family?: string; readonly host?: string };
  /** Where there are several; the route itself has no device then. */
  readonly nexthops?: readonly { readonly dev?: string }[];
  readonly dev?: string;
  readonly prefsrc?: string;
  readonly metric?: number;
  readonly protocol?: string;
  readonly scope?: string;
  readonly flags?: readonly string[];
  /** Of IPv6 alone. */
  readonly pref?: string;
  /** `mtu`, `advmss` and others; whether one is locked is not shown. */
  readonly metrics?: readonly Readonly<Record<string, unknown>>[];
}

/** As `ip -json` prints it. */
export interface HostState {
  readonly links: readonly LinkJson[];
  /** Of the main table, of both families. */
  readonly routes: readonly RouteJson[];
  /** Of every other table but `local`. */
  readonly otherRoutes: readonly RouteJson[];
}

/** Lines of one run: no other waits for very many. */
const MOST_LINES = 128;
/** Aliases are with links, which come last: `ip` keeps the family of what it showed. Of the routes of one table alone it shows those of IPv4 alone. */
const SHOW = ['address show', 'route show table all', 'link show'];

interface Outcome {
  readonly state: HostState;
  /** Reasons by the number of the line, from 0. */
  readonly failed: ReadonlyMap<number, string>;
}

interface Run {
  readonly lines: string[];
  readonly outcome: Promise<Outcome>;
}

export class HostNetwork {
  readonly #programs: Programs;
  #current: Promise<unknown> = Promise.resolve();
  /** Has not begun. */
  #next: Run | undefined;
  #latest: HostState = { links: [], routes: [], otherRoutes: [] };

  constructor(programs: Programs) {
    this.#programs = programs;
  }

  /** What the last run showed, which may be long ago. */
  get latest(): HostState {
    return this.#latest;
  }

  /** What is there after the call. @throws Error with the reason if the kernel cannot be asked */
  async read(): Promise<HostState> {
    return await this.write([]);
  }

  /**
   * @param lines for `ip -batch`, in order. One that fails does not keep others from being carried out.
   * @returns what is there afterwards
   * @throws Error with the reasons of the lines that failed, or if `ip` could not be run
   */
  async write(lines: readonly string[]): Promise<HostState> {
    while (this.#next !== undefined && this.#next.lines.length + lines.length > MOST_LINES) await this.#next.outcome.catch(() => undefined);
    const run = (this.#next ??= this.#prepare());
    const from = run.lines.length;
    run.lines.push(...lines);
    const { state, failed } = await run.outcome;
    const text = failureText(lines, new Map(Array.from(failed, ([at, reason]) => [at - from, reason])));
    if (text !== '') throw new Error(text);
    return state;
  }

  #prepare(): Run {
    const lines: string[] = [];
    const before = this.#current;
    const carryOut = async (): Promise<Outcome> => {
      // Who asks while a run is under way gets what is there after it.
      await before;
      this.#next = undefined;
      const ran = await this.#programs.run(['ip', '-json', '-force', '-batch', '-'], `${[...lines, ...SHOW].join('\n')}\n`);
      if (!ran.ok && ran.output === undefined) throw new Error(ran.message);
      const [addressed, routes, links] = listsOf(ran.output ?? '') as [LinkJson[]?, RouteJson[]?, LinkJson[]?];
      if (links === undefined || addressed === undefined || routes === undefined)
        throw new Error(ran.ok ? 'ip shows nothing' : ran.message);
      const aliases = new Map(links.map(({ ifname, ifalias }) => [ifname, ifalias]));
      const named = addressed.map((link) => ({ ...link, ifalias: aliases.get(link.ifname) ?? '' }));
      const otherRoutes = routes.filter(({ table }) => table !== undefined && table !== 'local');
      this.#latest = { links: named, routes: mainRoutes(routes), otherRoutes };
      return { state: this.#latest, failed: ran.ok ? new Map() : failedLines(ran.message) };
    };
    const outcome = carryOut();
    this.#current = outcome.catch(() => undefined);
    return { lines, outcome };
  }
}

/** @param routes of all tables */
export function mainRoutes(routes: readonly RouteJson[]): readonly RouteJson[] {
  return routes.filter(({ table }) => table === undefined);
}

/** `10.16.0.5/16` */
export function addressText({ local = '', prefixlen = 0 }: AddressJson): string {
  return `${canonicalAddress(local) ?? local}/${prefixlen}`;
}

/** The network of a default route, which `ip` shows without its family. */
export function anywhere({ pref }: RouteJson): '0.0.0.0/0' | '::/0' {
  return pref === undefined ? '0.0.0.0/0' : '::/0';
}

/** What `ip -json -batch` prints: a list in a line of its own for each command that shows something. */
export function listsOf(output: string): readonly unknown[] {
  return output.split('\n').flatMap((line): unknown[] => (line.trim() === '' ? [] : [JSON.parse(line)]));
}
