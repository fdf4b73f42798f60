/** The node's own devices with their addresses and routes: one run of `ip` for all who ask at about the same time. */
import { SharedRead } from '../listing/shared-read.ts';
import type { Programs } from './programs.ts';

export interface LinkJson {
  readonly ifname?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly ifalias?: string;
  readonly master?: string;
  readonly addr_info?: readonly AddressJson[];
}

export interface AddressJson {
  readonly local?: string;
  readonly prefixlen?: number;
  readonly scope?: string;
  readonly broadcast?: string;
  readonly temporary?: boolean;
  readonly tentative?: boolean;
  readonly dadfailed?: boolean;
}

export interface RouteJson {
  /** Missing for the main one. */
  readonly table?: string;
  readonly dst?: string;
  readonly gateway?: string;
  readonly dev?: string;
  readonly prefsrc?: string;
  readonly metric?: number;
  readonly protocol?: string;
  readonly scope?: string;
  readonly flags?: readonly string[];
  /** Of IPv6 alone. */
  readonly pref?: string;
}

/** As `ip -json` prints it. */
export interface HostState {
  readonly links: readonly LinkJson[];
  /** Of the main table, of both families. */
  readonly routes: readonly RouteJson[];
}

export class HostReader {
  readonly #read: SharedRead<HostState>;

  constructor(programs: Programs) {
    this.#read = new SharedRead(() => readHost(programs));
  }

  /** What is there after the call. @throws Error with the reason if the kernel cannot be asked */
  async read(): Promise<HostState> {
    return await this.#read.read();
  }
}

/** @throws as `HostReader.read` */
export async function readHost(programs: Programs): Promise<HostState> {
  // With one table alone `ip` shows IPv4 alone.
  const ran = await programs.run(['ip', '-json', '-batch', '-'], 'address show\nroute show table all\n');
  if (!ran.ok) throw new Error(ran.message);
  const [links = [], routes = []] = listsOf(ran.output) as [LinkJson[]?, RouteJson[]?];
  return { links, routes: mainRoutes(routes) };
}

/** @param routes of all tables */
export function mainRoutes(routes: readonly RouteJson[]): readonly RouteJson[] {
  return routes.filter(({ table }) => table === undefined);
}

/** The network of a default route, which `ip` shows without its family. */
export function anywhere({ pref }: RouteJson): '0.0.0.0/0' | '::/0' {
  return pref === undefined ? '0.0.0.0/0' : '::/0';
}

/** What `ip -json -batch` prints: a list in a line of its own for each command that shows something. */
export function listsOf(output: string): readonly unknown[] {
  return output.split('\n').flatMap((line): unknown[] => (line.trim() === '' ? [] : [JSON.parse(line)]));
}
