/**
 * Whether pods, IP objects, ports and the status of Subnets agree exactly, as `kubectl` and `ovn-nbctl` print them. Everything is counted
 * anew here, without code of the product.
 */

export interface Tools {
  readonly kubectl: (args: readonly string[]) => Promise<string>;
  readonly nbctl: (...args: readonly string[]) => Promise<string>;
}

interface Pod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly status: { readonly phase: string; readonly podIPs?: readonly { readonly ip: string }[] };
}
interface IpObject {
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<'namespace' | 'podName' | 'subnet' | 'v4IpAddress' | 'v6IpAddress' | 'macAddress', string>>;
}
interface Subnet {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly cidrBlock: string; readonly excludeIps?: readonly string[] };
  readonly status: Readonly<Record<string, unknown>>;
}

/**
 * The text in which pods, IP objects and ports are compared, one for each interface: `name v4 v6 mac subnet`, with a dash for a missing
 * value.
 */
type Interfaces = ReadonlyMap<string, string>;

/** Everything that disagrees, as sentences; empty if all agree. */
export async function disagreements(
  { kubectl, nbctl }: Tools,
  namespaces: readonly string[],
  subnets: readonly string[],
): Promise<readonly string[]> {
  const list = async <T>(...what: readonly string[]): Promise<readonly T[]> =>
    (JSON.parse(await kubectl(['get', ...what, '-o', 'json'])) as { readonly items: readonly T[] }).items;
  const pods = (await list<Pod>('pods', '-A')).filter(({ metadata }) => namespaces.includes(metadata.namespace));
  const ips = (await list<IpObject>('ips')).filter(({ spec }) => namespaces.includes(spec.namespace));
  const found: string[] = [];
  const ofPods = new Map(pods.map((pod) => interfaceOfPod(pod, found)));
  compare('pod', ofPods, 'IP object', new Map(ips.map(interfaceOfIp)), found);
  compare(
    'pod',
    ofPods,
    'port',
    portsOf(await nbctl('--format=json', '--columns=name,addresses,external_ids', 'list', 'Logical_Switch_Port'), namespaces),
    found,
  );
  for (const subnet of await list<Subnet>('subnets')) {
    if (!subnets.includes(subnet.metadata.name)) continue;
    const own = [...ofPods.values()].filter((text) => text.endsWith(` ${subnet.metadata.name}`)).map((text) => text.split(' '));
    found.push(
      ...statusDisagreements(
        subnet,
        'v4',
        own.map(([v4 = '-']) => v4),
      ),
      ...statusDisagreements(
        subnet,
        'v6',
        own.map(([, v6 = '-']) => v6),
      ),
    );
  }
  return found;
}

function interfaceOfPod({ metadata, status }: Pod, found: string[]): readonly [string, string] {
  const annotation = (key: string): string => metadata.annotations?.[`ovn.kubernetes.io/${key}`] ?? '';
  const addresses = annotation('ip_address')
    .split(',')
    .filter((address) => address !== '');
  const shown = (status.podIPs ?? []).map(({ ip }) => ip);
  const name = `${metadata.name}.${metadata.namespace}`;
  if (status.phase !== 'Running' || annotation('allocated') !== 'true')
    found.push(`pod ${name} is ${status.phase}, allocated=${annotation('allocated')}`);
  if (shown.join() !== addresses.join()) found.push(`pod ${name} runs with ${shown.join()} and is annotated with ${addresses.join()}`);
  return [name, text(addresses, annotation('mac_address'), annotation('logical_switch'))];
}

function interfaceOfIp({ metadata, spec }: IpObject): readonly [string, string] {
  return [
    metadata.name,
    text(
      [spec.v4IpAddress, spec.v6IpAddress].filter((address) => address !== ''),
      spec.macAddress,
      spec.subnet,
    ),
  ];
}

function portsOf(printed: string, namespaces: readonly string[]): Interfaces {
  const { data } = JSON.parse(printed) as {
    readonly data: readonly (readonly [string, unknown, readonly [string, readonly (readonly [string, string])[]]])[];
  };
  const ports = new Map<string, string>();
  for (const [name, addresses, [, ids]] of data) {
    if (!namespaces.some((namespace) => name.endsWith(`.${namespace}`))) continue;
    const [mac = '', ...others] = String(addresses).split(' ');
    const known = ports.get(name);
    ports.set(name, `${known === undefined ? '' : `${known} and `}${text(others, mac, new Map(ids).get('ls') ?? '')}`);
  }
  return ports;
}

function text(addresses: readonly string[], mac: string, subnet: string): string {
  const family = (colon: boolean): string => addresses.find((address) => address.includes(':') === colon) ?? '-';
  return `${family(false)} ${family(true)} ${mac} ${subnet}`;
}

function compare(one: string, these: Interfaces, other: string, those: Interfaces, found: string[]): void {
  for (const [name, annotation] of these) {
    const also = those.get(name);
    if (also !== annotation)
      found.push(`${one} ${name} has ${annotation}, and its ${other} ${also === undefined ? 'does not exist' : `has ${also}`}`);
  }
  for (const [name, annotation] of those) if (!these.has(name)) found.push(`${other} ${name} (${annotation}) has no ${one}`);
}

/**
 * Compares a Subnet's status in one family with the pods' addresses: no address is used twice, `using` is exactly these, and `available` is
 * all the rest.
 */
function statusDisagreements({ metadata, spec, status }: Subnet, family: 'v4' | 'v6', holders: readonly string[]): readonly string[] {
  const cidr = spec.cidrBlock.split(',').find((block) => block.includes(':') === (family === 'v6'));
  const held = holders.filter((address) => address !== '-').map(numberOf);
  if (cidr === undefined) return held.length === 0 ? [] : [`Subnet ${metadata.name} has no ${family}, and pods have addresses of it`];
  const found: string[] = [];
  const say = (what: string, is: unknown, should: unknown): void => {
    if (String(is) !== String(should))
      found.push(`Subnet ${metadata.name}: ${what} is ${String(is)}, and ${String(should)} follows from pods and spec`);
  };
  const using = new Set(held);
  say(`the number of pods of one ${family} address`, held.length, using.size);
  say(`status.${family}usingIPs`, status[`${family}usingIPs`], using.size);
  const shown = ranges(String(status[`${family}usingIPrange`] ?? '')).flatMap(([first, last]) => numbersOf(first, last));
  say(`status.${family}usingIPrange`, shown.toSorted(ascending).join(), [...using].toSorted(ascending).join());
  const [network = '', length = '0'] = cidr.split('/');
  const size = 1n << BigInt((family === 'v4' ? 32 : 128) - Number(length));
  const base = (numberOf(network) / size) * size;
  // Kube-OVN uses neither the first nor the last address, in either family.
  const [least, most] = [base + 1n, base + size - 2n];
  const excluded = new Set(
    (spec.excludeIps ?? [])
      .filter((one) => one.includes(':') === (family === 'v6'))
      .flatMap((one) => numbersOf(...bounds(one.split('..')))),
  );
  const free = most - least + 1n - BigInt([...new Set([...using, ...excluded])].filter((one) => one >= least && one <= most).length);
  // An API server before 1.33 stores a number above 2^63 as a float.
  if (free < 1n << 53n) say(`status.${family}availableIPs`, status[`${family}availableIPs`], free);
  const available = ranges(String(status[`${family}availableIPrange`] ?? ''));
  say(
    `addresses in status.${family}availableIPrange`,
    available.reduce((sum, [first, last]) => sum + last - first + 1n, 0n),
    free,
  );
  for (const one of using)
    if (available.some(([first, last]) => one >= first && one <= last))
      found.push(`Subnet ${metadata.name}: an address in use is shown as available`);
  return found;
}

function ranges(range: string): readonly (readonly [bigint, bigint])[] {
  return range === '' ? [] : range.split(',').map((one) => bounds(one.split('-')));
}

function bounds([first = '', last = first]: readonly string[]): readonly [bigint, bigint] {
  return [numberOf(first), numberOf(last)];
}

function numbersOf(first: bigint, last: bigint): readonly bigint[] {
  return Array.from({ length: Number(last - first) + 1 }, (_, at) => first + BigInt(at));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}

function numberOf(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [head = '', tail] = address.split('::');
  const groups = (part: string | undefined): readonly string[] => (part === undefined || part === '' ? [] : part.split(':'));
  const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  return [...groups(head), ...Array.from({ length: zeros }, () => '0'), ...groups(tail)].reduce(
    (sum, group) => sum * 65_536n + BigInt(`0x${group}`),
    0n,
  );
}
