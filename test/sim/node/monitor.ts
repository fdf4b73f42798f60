/** `ip monitor` on a simulated node: lines for what changed, as far as the kernel tells it; sometimes it dies, or misses something and says so. */
import type { Watching } from '../../../src/agent/kernel/programs.ts';
import type { Random } from '../cluster/random.ts';
import type { Namespace, SimulatedKernel } from './kernel.ts';
import { MAIN } from './kernel.ts';

/** Of a line. */
const DEATH = 0.01;
const LOSS = 0.01;

export class Monitor {
  readonly #random: Random;
  readonly #watching = new Set<Watching>();
  #before: ReadonlyMap<string, string> = new Map();

  constructor(random: Random) {
    this.#random = random;
  }

  /** @returns ends it */
  watch(watching: Watching): () => void {
    this.#watching.add(watching);
    return () => void this.#watching.delete(watching);
  }

  /** @param quietly without faults */
  tell(kernel: SimulatedKernel, quietly: boolean): void {
    const now = facts(kernel.host);
    for (const namespace of kernel.namespaces.values())
      for (const line of factsInside(namespace)) now.set(`[nsid ${kernel.numberOf(namespace)}]${line}`, '');
    const lines = [...new Set([...now.keys(), ...this.#before.keys()])].filter((line) => now.get(line) !== this.#before.get(line));
    this.#before = now;
    // Of the routes that go with their device or its address the kernel says nothing.
    const silent = new Set(lines.filter((line) => /\[(LINK|ADDR)\]/.test(line)).map(namespaceOf));
    for (const line of lines) {
      if (silent.has(namespaceOf(line)) && line.includes('[ROUTE]') && !now.has(line)) continue;
      for (const watching of this.#watching) {
        if (!quietly && this.#random.chance(DEATH)) {
          this.#watching.delete(watching);
          watching.ended('it was ended by SIGKILL');
        } else if (!quietly && this.#random.chance(LOSS)) watching.warned('netlink receive error No buffer space available (105)');
        else watching.line(now.has(line) ? line : line.replace(/(\[[A-Z]+\])/, '$1Deleted '));
      }
    }
  }
}

/** Lines, with what else may change of each. */
function facts({ links, routes, rules, sysctls }: Namespace): Map<string, string> {
  const lines = new Map<string, string>();
  for (const { name, mac, mtu, up, alias, addresses } of links.values()) {
    lines.set(`[LINK]7: ${name}@if2: <BROADCAST>`, `${mac} ${mtu} ${up} ${alias}`);
    for (const { text } of addresses) lines.set(`[ADDR]7: ${name}    inet ${text}`, '');
  }
  for (const { dst, via, dev, src, table, proto, type } of routes)
    lines.set(`[ROUTE]${type ?? ''} ${dst} via ${via} dev ${dev} table ${table} proto ${proto} src ${src}`, '');
  for (const rule of rules) lines.set(`[RULE]${rule.priority}: from ${rule.from} lookup ${rule.table} ${rule.family}`, rule.proto);
  for (const [key, value] of sysctls)
    if (key.includes('forward')) lines.set(`[NETCONF]${key.includes('ipv6') ? 'inet6' : 'inet'} all forwarding ${key}`, value);
  return lines;
}

/** The number in front of a line of another namespace; empty for the node's own. */
function namespaceOf(line: string): string {
  return /^\[nsid \d+\]/.exec(line)?.[0] ?? '';
}

/** Of a pod's namespace: each part of a link is in its line, as `ip -o monitor` has it. */
function factsInside({ links, routes }: Namespace): readonly string[] {
  const lines: string[] = [];
  for (const { name, mac, mtu, up, addresses } of links.values()) {
    lines.push(`[LINK]2: ${name}@if7: <BROADCAST${up ? ',UP' : ''}> mtu ${mtu} qdisc noqueue \\    link/ether ${mac} link-netnsid 0`);
    for (const { text } of addresses) lines.push(`[ADDR]2: v0    inet${text.includes(':') ? '6' : ''} ${text} scope global`);
  }
  for (const { dst, via, table, family } of routes)
    lines.push(
      `[ROUTE]${/^(0\.0\.0\.0|::)\/0$/.test(dst) ? 'default' : dst}${via === undefined ? '' : ` via ${via}`} dev v0 ${table === MAIN ? '' : `table ${table} `}${family === 6 ? 'pref medium' : ''}`,
    );
  return lines;
}
