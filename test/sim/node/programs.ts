/**
 * The programs that the agent runs on a node (`ip`, `nft`, `nsenter`, `sysctl`, `ethtool`), on a simulated kernel: the same arguments, the
 * same effects, the same JSON and the same errors. A program or verb that is not known here is noted, and does nothing.
 */
import { canonicalCidr } from '../../../src/net/cidr.ts';
import type { Ran } from '../../../src/agent/kernel/ran.ts';
import {
  MAIN,
  cannotFind,
  familyOf,
  KernelError,
  type Hand,
  type Link,
  type Namespace,
  type Route,
  type SimulatedKernel,
} from './kernel.ts';
import { nft } from './nft.ts';

/** Every gateway and pod of another node answers with it. */
const NEIGHBOUR = '00:00:00:00:00:fe';

export class SimulatedPrograms {
  /** Commands that were not understood. */
  readonly unknown = new Set<string>();
  readonly #kernel: SimulatedKernel;

  constructor(kernel: SimulatedKernel) {
    this.#kernel = kernel;
  }

  run(command: readonly string[], input: string, by: Hand): Ran {
    return this.#runIn(this.#kernel.host, command, input, by);
  }

  #runIn(inside: Namespace, [program = '', ...args]: readonly string[], input: string, by: Hand): Ran {
    try {
      switch (program) {
        case 'nsenter': {
          const path = (args[0] ?? '').replace('--net=', '');
          const entered = this.#kernel.namespaces.get(path);
          if (entered === undefined) return { ok: false, message: `nsenter: cannot open ${path}: No such file or directory` };
          return this.#runIn(entered, args.slice(args.indexOf('--') + 1), input, by);
        }
        case 'ip':
          return { ok: true, output: new Ip(this.#kernel, inside, by, this.#note).run(args, input) };
        case 'nft':
          return { ok: true, output: nft(this.#kernel, args, input, by, this.#note) };
        case 'sysctl':
          return { ok: true, output: sysctl(inside, args) };
        case 'ethtool':
          if (!inside.links.has(args[1] ?? '')) throw new KernelError('netlink error: no device matches name');
          return { ok: true, output: '' };
        default:
          this.#note([program, ...args].join(' '));
          return { ok: true, output: '' };
      }
    } catch (error) {
      if (error instanceof KernelError) return { ok: false, message: error.message, output: error.output };
      throw error;
    }
  }

  readonly #note = (what: string): void => void this.unknown.add(what);
}

function sysctl({ links, sysctls }: Namespace, args: readonly string[]): string {
  const settings = args.filter((arg) => !arg.startsWith('-'));
  for (const setting of settings) {
    const [key = '', value] = setting.split('=');
    const link = links.get(/^net\.ipv6\.conf\.(.+)\.disable_ipv6$/.exec(key)?.[1]?.replaceAll('/', '.') ?? '');
    // It goes with the device, not with its name.
    if (link !== undefined && value === '1') {
      link.withoutV6 = true;
      link.addresses = link.addresses.filter(({ text }) => familyOf(text) === 4);
    } else if (value !== undefined) sysctls.set(key, value);
  }
  return settings.map((key) => `${sysctls.get(key) ?? '0'}\n`).join('');
}

/** One call of `ip`. */
class Ip {
  readonly #kernel: SimulatedKernel;
  readonly #inside: Namespace;
  readonly #by: Hand;
  readonly #note: (what: string) => void;
  #families: readonly (4 | 6)[] = [];
  #isNumeric = false;

  constructor(kernel: SimulatedKernel, inside: Namespace, by: Hand, note: (what: string) => void) {
    this.#kernel = kernel;
    this.#inside = inside;
    this.#by = by;
    this.#note = note;
  }

  /** @returns what it prints. @throws KernelError with what it prints on standard error */
  run(args: readonly string[], input: string): string {
    const options = new Set<string>();
    let rest = args;
    for (; rest[0]?.startsWith('-') === true; rest = rest.slice(1)) {
      options.add(rest[0]);
      if (rest[0] === '-batch') rest = rest.slice(1);
    }
    this.#families = [...(options.has('-4') ? [4 as const] : []), ...(options.has('-6') ? [6 as const] : [])];
    this.#isNumeric = options.has('-N');
    if (!options.has('-batch')) return this.#command(rest);
    const errors: string[] = [];
    const shown: string[] = [];
    for (const [at, line] of input.split('\n').entries()) {
      if (line.trim() === '') continue;
      try {
        const output = this.#command(wordsOf(line));
        if (output !== '') shown.push(`${output}\n`);
      } catch (error) {
        if (!(error instanceof KernelError)) throw error;
        errors.push(`${error.message}\nCommand failed -:${at + 1}`);
        if (!options.has('-force')) break;
      }
    }
    if (errors.length > 0) throw new KernelError(errors.join('\n'), shown.join(''));
    return shown.join('');
  }

  #command(words: readonly string[]): string {
    const [object = '', verb = '', ...rest] = words;
    switch (`${object} ${verb}`) {
      case 'link show':
        return JSON.stringify(
          this.#shown(rest).map(({ name, alias, queue, kind }) => ({
            ifname: name,
            qdisc: queue,
            ...(alias !== '' && { ifalias: alias }),
            ...(kind !== 'dummy' && { linkinfo: { info_kind: kind === 'internal' ? 'tun' : kind } }),
          })),
        );
      case 'address show':
        return JSON.stringify(this.#shown(rest).map((link) => this.#linkJson(link)));
      case 'link add':
        return this.#addLink(words);
      case 'link set':
        return this.#setLink(rest);
      case 'link delete':
        this.#kernel.removeLink(this.#link(valueOf(rest, 'dev')));
        return '';
      case 'address add':
      case 'address replace':
        this.#kernel.addAddress(this.#link(valueOf(rest, 'dev')), rest[0] ?? '', verb === 'replace');
        return '';
      case 'address delete':
        this.#kernel.removeAddress(this.#link(valueOf(rest, 'dev')), rest[0] ?? '');
        return '';
      case 'route show':
        return JSON.stringify(this.#routes(rest).map((route) => routeJson(route, this.#isNumeric)));
      case 'route add':
      case 'route append':
      case 'route replace':
        this.#kernel.addRoute(this.#inside, this.#route(rest), verb === 'replace');
        return '';
      case 'route delete':
        this.#kernel.removeRoute(this.#inside, this.#route(rest));
        return '';
      case 'rule show':
      case 'rule add':
      case 'rule delete':
        return this.#rule(verb, rest);
      case 'neighbour replace':
        this.#inside.neighbours.add(`${valueOf(rest, 'dev')} ${rest[0] ?? ''}`);
        return '';
      case 'ntable change':
        this.#link(valueOf(rest, 'dev'));
        return '';
      case 'neighbour show':
        return JSON.stringify(this.#neighbours(valueOf(rest, 'dev') ?? ''));
      default:
        this.#note(`ip ${words.join(' ')}`);
        return '';
    }
  }

  #link(name: string | undefined): Link {
    const link = this.#inside.links.get(name ?? '');
    if (link === undefined) throw new KernelError(cannotFind(name ?? ''));
    return link;
  }

  #shown(rest: readonly string[]): readonly Link[] {
    const name = valueOf(rest, 'dev');
    if (name === undefined) return [...this.#inside.links.values()];
    const link = this.#inside.links.get(name);
    if (link === undefined) throw new KernelError(`Device "${name}" does not exist.`);
    return [link];
  }

  #linkJson({ name, mac, mtu, up, addresses, peer, isDeaf }: Link): object {
    // Of IPv6 the newest comes first.
    const [four, six] = [4, 6].map((family) => addresses.filter(({ text }) => familyOf(text) === family));
    const shown = [...(four ?? []), ...(six ?? []).toReversed()].filter(
      ({ text }) => this.#families.length === 0 || this.#families.includes(familyOf(text)),
    );
    return {
      ifname: name,
      address: mac,
      mtu,
      flags: [...(up ? ['UP', ...(peer?.up === false ? [] : ['LOWER_UP'])] : []), ...(isDeaf === true ? ['NOARP'] : [])],
      ...(peer !== undefined && peer.inside !== this.#inside && { link_netnsid: this.#kernel.numberOf(peer.inside) }),
      addr_info: shown.map(({ text, scope }) => ({ local: text.split('/')[0], prefixlen: Number(text.split('/')[1]), scope })),
    };
  }

  /** `link add name X mtu N type veth peer name Y address M mtu N netns PATH` */
  #addLink(words: readonly string[]): string {
    const at = words.indexOf('peer');
    const [own, peer] = [words.slice(0, at), words.slice(at + 1)];
    const path = valueOf(peer, 'netns') ?? '';
    const inner = this.#kernel.namespaces.get(path);
    if (valueOf(own, 'type') !== 'veth' || at < 0) this.#note(`ip ${words.join(' ')}`);
    if (inner === undefined) throw new KernelError(`Error: argument "${path}" is wrong: Invalid "netns" value`);
    const fields = { by: this.#by, kind: 'veth' } as const;
    const [outerName, innerName] = [valueOf(own, 'name') ?? '', valueOf(peer, 'name') ?? ''];
    if (inner.links.has(innerName)) throw new KernelError('RTNETLINK answers: File exists');
    const outer = this.#kernel.addLink(this.#inside, {
      ...fields,
      name: outerName,
      mac: '02:00:00:00:00:01',
      mtu: Number(valueOf(own, 'mtu') ?? 1500),
    });
    const end = this.#kernel.addLink(inner, {
      ...fields,
      name: innerName,
      mac: valueOf(peer, 'address') ?? '02:00:00:00:00:02',
      mtu: Number(valueOf(peer, 'mtu') ?? 1500),
    });
    [outer.peer, end.peer] = [end, outer];
    return '';
  }

  #setLink(rest: readonly string[]): string {
    const link = this.#link(valueOf(rest, 'dev') ?? rest[0]);
    link.mac = valueOf(rest, 'address') ?? link.mac;
    link.mtu = Number(valueOf(rest, 'mtu') ?? link.mtu);
    link.alias = valueOf(rest, 'alias') ?? link.alias;
    const name = valueOf(rest, 'name');
    if (name !== undefined) this.#kernel.rename(link, name);
    if (rest.includes('up')) this.#kernel.setUp(link, true);
    if (rest.includes('down')) this.#kernel.setUp(link, false);
    if (valueOf(rest, 'arp') === 'off') link.isDeaf = true;
    return '';
  }

  #route(rest: readonly string[]): Route {
    const type = rest[0] === 'throw' ? 'throw' : undefined;
    const dst = (type === undefined ? rest[0] : rest[1]) ?? '';
    const [via, dev, src] = ['via', 'dev', 'src'].map((key) => valueOf(rest, key));
    return {
      family: dst === 'default' ? (this.#families[0] ?? familyOf(via ?? '')) : familyOf(dst),
      by: this.#by,
      dst: dst === 'default' ? (this.#families[0] === 6 || via?.includes(':') === true ? '::/0' : '0.0.0.0/0') : withLength(dst),
      ...(via === undefined ? {} : { via }),
      ...(dev === undefined ? {} : { dev }),
      ...(src === undefined ? {} : { src }),
      ...(type === undefined ? {} : { type }),
      table: valueOf(rest, 'table') ?? MAIN,
      proto: valueOf(rest, 'proto') ?? 'boot',
    };
  }

  #routes(rest: readonly string[]): readonly Route[] {
    const [dev, proto, table = MAIN] = ['dev', 'proto', 'table'].map((key) => valueOf(rest, key));
    return this.#inside.routes.filter(
      (route) =>
        (this.#families.length === 0 ? table === 'all' || route.family === 4 : this.#families.includes(route.family)) &&
        (dev === undefined || route.dev === dev) &&
        (proto === undefined || route.proto === proto) &&
        (table === 'all' || route.table === table),
    );
  }

  /** `rule add from X lookup T priority P protocol N` */
  #rule(verb: string, rest: readonly string[]): string {
    const inside = this.#inside;
    const [from = 'all', table = MAIN, priority = '0', proto] = ['from', 'lookup', 'priority', 'protocol'].map((key) => valueOf(rest, key));
    const family = this.#families[0] ?? familyOf(from);
    if (verb === 'show') {
      // Whatever protocol is asked for: `ip` does not select by it.
      const shown = inside.rules.filter((rule) => rule.family === family);
      return JSON.stringify(
        shown.map((rule) => ({ priority: rule.priority, ...sourceJson(rule.from), table: rule.table, protocol: rule.proto })),
      );
    }
    const rule = { family, by: this.#by, from, table, priority: Number(priority), proto: proto ?? 'boot' };
    const found = inside.rules.find((one) =>
      (['family', 'from', 'table', 'priority', 'proto'] as const).every((key) => one[key] === rule[key]),
    );
    if (verb === 'add' && found !== undefined) throw new KernelError('RTNETLINK answers: File exists');
    if (verb === 'delete' && found === undefined) throw new KernelError('RTNETLINK answers: No such file or directory');
    inside.rules = verb === 'add' ? [...inside.rules, rule] : inside.rules.filter((one) => one !== found);
    return '';
  }

  /** Gateways answer; no other address of the pods' network is in use. */
  #neighbours(device: string): readonly object[] {
    return [...this.#inside.neighbours].flatMap((key) => {
      const [dev, dst = ''] = key.split(' ');
      if (dev !== device) return [];
      return /[.:]1$/.test(dst) ? [{ dst, lladdr: NEIGHBOUR, state: ['REACHABLE'] }] : [{ dst, state: ['FAILED'] }];
    });
  }
}

/** As `ip -batch` splits a line. */
function wordsOf(line: string): readonly string[] {
  return (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
}

function valueOf(words: readonly string[], key: string): string | undefined {
  const at = words.indexOf(key);
  return at < 0 ? undefined : words[at + 1];
}

function withLength(dst: string): string {
  const text = dst.includes('/') ? dst : `${dst}/${familyOf(dst) === 6 ? 128 : 32}`;
  return canonicalCidr(text) ?? text;
}

function sourceJson(from: string): object {
  const [src, length] = from.split('/');
  return { src, ...(length === undefined ? {} : { srclen: Number(length) }) };
}

/** As `ip -json` has it: a default route by name, a host without a length. */
function routeJson({ family, type, dst, via, dev, src, table, proto }: Route, isNumeric: boolean): object {
  const isHost = dst.endsWith('/32') || dst.endsWith('/128');
  return {
    ...(type === undefined ? {} : { type: isNumeric ? '9' : type }),
    dst: /^(0\.0\.0\.0|::)\/0$/.test(dst) ? 'default' : isHost ? dst.split('/')[0] : dst,
    ...(via === undefined ? {} : { gateway: via }),
    ...(dev === undefined ? {} : { dev }),
    ...(src === undefined ? {} : { prefsrc: src }),
    ...(table === MAIN ? {} : { table }),
    protocol: proto,
    ...(family === 6 && { pref: 'medium' }),
  };
}
