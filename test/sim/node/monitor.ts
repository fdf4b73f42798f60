/** `ip monitor` on a simulated node: lines for what changed, as far as the kernel tells it; sometimes it dies, or misses something and says so. */
import type { Watching } from '../../../src/agent/kernel/programs.ts';
import type { Random } from '../cluster/random.ts';
import type { Namespace } from './kernel.ts';

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
  tell(host: Namespace, quietly: boolean): void {
    const now = facts(host);
    const lines = [...new Set([...now.keys(), ...this.#before.keys()])].filter((line) => now.get(line) !== this.#before.get(line));
    this.#before = now;
    // Of the routes that go with their device or its address the kernel says nothing.
    const isSilent = lines.some((line) => /^\[(LINK|ADDR)\]/.test(line));
    for (const line of lines) {
      if (isSilent && line.startsWith('[ROUTE]') && !now.has(line)) continue;
      for (const watching of this.#watching) {
        if (!quietly && this.#random.chance(DEATH)) {
          this.#watching.delete(watching);
          watching.ended('it was ended by SIGKILL');
        } else if (!quietly && this.#random.chance(LOSS)) watching.warned('netlink receive error No buffer space available (105)');
        else watching.line(now.has(line) ? line : line.replace(']', ']Deleted '));
      }
    }
  }
}

/** Lines, with what else may change of each. */
function facts({ links, routes, rules, sysctls }: Namespace): ReadonlyMap<string, string> {
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
