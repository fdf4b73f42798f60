/** The network settings as flags with Kube-OVN's names, checked before anything starts. */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { NIC_TYPES } from '../../api/pod/pod-port-validation.ts';
import { formatAddress } from '../../net/address.ts';
import { cidrsOverlap, isUsable } from '../../net/cidr.ts';
import type { Cidr } from '../../net/cidr.ts';
import { formatDualCidr, parseDualAddress, parseDualCidr, splitList } from '../../net/dual.ts';
import { cidrRange, parseRange } from '../../net/range.ts';
import type { AddressRange } from '../../net/range.ts';
import type { GcRule } from '../../nb/gc-rules.ts';
import { GC_MODES, gcRulesProblem, isGcRule } from '../../nb/gc-rules.ts';
import type { NeighbourPattern } from '../../nb/neighbours.ts';
import { isNeighbourPattern, neighboursProblem } from '../../nb/neighbours.ts';
import { accepting, structured } from './configuration.ts';
import { objectName } from '../arguments/name-arguments.ts';
import { DEFAULT_SETTINGS, GLOBAL_OPTION_POLICIES, MISBOUND_POLICIES, TENANCIES } from '../../world/settings.ts';
import type { Settings } from '../../world/settings.ts';

export interface NetworkFlags {
  readonly defaultCidr: string;
  readonly defaultGateway: string;
  readonly defaultExcludeIps: readonly string[];
  readonly nodeSwitchCidr: string;
  readonly nodeSwitchGateway: string;
  readonly serviceClusterIpRange: string;
  readonly clusterRouter: string;
  readonly defaultLs: string;
  readonly nodeSwitch: string;
  readonly externalGatewaySwitch: string;
  readonly externalGatewayConfigNs: string;
  readonly externalGatewayNet: string;
  readonly externalGatewayVlanid: number;
  readonly enableEipSnat: boolean;
  readonly enableExternalVpc: boolean;
  readonly bfdMinTx: number;
  readonly bfdMinRx: number;
  readonly bfdDetectMult: number;
  readonly enableLb: boolean;
  readonly networkType: Settings['networkType'];
  readonly podNicType: string;
  readonly misbound: Settings['misbound'];
  readonly tenancy: Settings['tenancy'];
  readonly globalOptions: Settings['globalOptions'];
  readonly keepVmIp: boolean;
  readonly nonPrimaryCniMode: boolean;
  readonly neighbours: readonly NeighbourPattern[];
  readonly gc: Settings['gc'];
  readonly gcRules: readonly GcRule[];
  readonly absenceGrace: number;
  readonly gcMaxRows: number;
  readonly gcMaxShare: number;
  readonly gcShareFrom: number;
  readonly gcKubeOvnGrace: number;
}

export function cidr(text: string): string {
  const parsed = parseDualCidr(text);
  if (!parsed.ok)
    throw new InvalidArgumentError(
      `"${text}" ${parsed.problem}; it is a network such as 10.16.0.0/16, or one of each family with a comma.`,
    );
  return formatDualCidr(parsed);
}

function address(text: string): string {
  const parsed = parseDualAddress(text);
  if (!parsed.ok) throw new InvalidArgumentError(`"${text}" ${parsed.problem}; it is an address, or one of each family with a comma.`);
  return text;
}

function ranges(text: string): readonly string[] {
  const items = splitList(text);
  const bad = items.find((item) => parseRange(item) === undefined);
  if (bad !== undefined) throw new InvalidArgumentError(`"${bad}" is neither an address nor a range such as 10.16.0.2..10.16.0.9.`);
  return items;
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value < least || value > most) throw new InvalidArgumentError(`"${text}" is no number from ${least} to ${most}.`);
    return value;
  };
}

export function yesOrNo(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError(`"${text}" is neither true nor false.`);
  return text === 'true';
}

/** A flag that needs no value, as in Kube-OVN. */
function presence(text: string | boolean): boolean {
  return typeof text === 'boolean' ? text : yesOrNo(text);
}

/** A list as JSON; in a file also as YAML. */
const neighbours = structured('a list of name with externalIds, names or both, as JSON', (text: string): readonly NeighbourPattern[] => {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = undefined;
  }
  if (!Array.isArray(read) || !read.every(isNeighbourPattern))
    throw new InvalidArgumentError(
      `"${text}" is no list such as [{"name":"octavia","externalIds":"^octavia:","names":"^lb-"}]: name, and externalIds, names or both.`,
    );
  const problem = neighboursProblem(read, []);
  if (problem !== undefined) throw new InvalidArgumentError(`neighbours: ${problem}.`);
  return read;
});

/** Likewise. */
const gcRules = structured('a list of mode with table, names or owners, as JSON', (text: string): readonly GcRule[] => {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = undefined;
  }
  if (!Array.isArray(read) || !read.every(isGcRule))
    throw new InvalidArgumentError(
      `"${text}" is no list such as [{"mode":"report","table":"NAT"},{"mode":"off","names":"^lab-"}]: mode, and table, names or owners.`,
    );
  const problem = gcRulesProblem(read);
  if (problem !== undefined) throw new InvalidArgumentError(`gcRules: ${problem}.`);
  return read;
});

/** A limit of zero would hold every collection, which another setting says. */
function limit(most: number, of: string): (text: string) => number {
  return accepting(`a whole number from 1 to ${most}`, (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value === 0)
      throw new InvalidArgumentError(
        `0 ${of} is no limit: every row would wait for an approval. To collect nothing, set --gc=report; kiln gc pause stops for a while.`,
      );
    if (value < 1 || value > most) throw new InvalidArgumentError(`"${text}" is no whole number from 1 to ${most}.`);
    return value;
  });
}

/** Seconds. */
const grace = accepting('0s to 8760h', (text: string): number => {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms === undefined || ms > 8_760 * 3_600_000)
    throw new InvalidArgumentError(`"${text}" is no duration from 0s to 8760h, such as 30m or 24h.`);
  return ms / 1_000;
});

/** Existing objects keep their own values. These are for objects that Kiln creates because they are missing. */
function networkOptions(): readonly Option[] {
  const { defaultVpc, defaultSubnet, joinSubnet, defaultCidr, joinCidr, serviceCidr, enableLb, networkType, podNicType } = DEFAULT_SETTINGS;
  const { keepVmIp, nonPrimaryCni, misbound, tenancy, globalOptions, externalSubnet } = DEFAULT_SETTINGS;
  const { externalGatewayConfigNamespace, externalGatewayNet, externalGatewayVlan, enableEipSnat, enableExternalVpc } = DEFAULT_SETTINGS;
  const { bfdMinTx, bfdMinRx, bfdDetectMult } = DEFAULT_SETTINGS;
  const { gc, gcMaxRows, gcMaxShare, gcShareFrom, gcKubeOvnGrace, absenceGrace } = DEFAULT_SETTINGS;
  const read = (flags: string, description: string, parse: (text: string) => unknown, value: unknown): Option =>
    new Option(flags, description).argParser(parse).default(value);
  return [
    read('--default-cidr <networks>', 'network of the default Subnet', cidr, defaultCidr),
    read('--default-gateway <addresses>', 'its gateway; its first address if empty', address, ''),
    read('--default-exclude-ips <ranges>', 'its addresses that are never allocated, separated by commas', ranges, []),
    read('--node-switch-cidr <networks>', 'network of the join Subnet, which connects the nodes', cidr, joinCidr),
    read('--node-switch-gateway <addresses>', 'its gateway; its first address if empty', address, ''),
    read('--service-cluster-ip-range <networks>', 'network of Services', cidr, serviceCidr),
    read('--cluster-router <name>', 'name of the default Vpc', objectName, defaultVpc),
    read('--default-ls <name>', 'name of the default Subnet', objectName, defaultSubnet),
    read('--node-switch <name>', 'name of the join Subnet', objectName, joinSubnet),
    read('--external-gateway-switch <name>', 'Subnet of OvnEips without spec.externalSubnet', objectName, externalSubnet),
    read(
      '--external-gateway-config-ns <name>',
      'namespace of ConfigMap ovn-external-gw-config',
      objectName,
      externalGatewayConfigNamespace,
    ),
    read('--external-gateway-net <name>', 'physical network of the external gateway', objectName, externalGatewayNet),
    read('--external-gateway-vlanid <tag>', 'its VLAN tag; 0 for none', wholeNumber(0, 4095), externalGatewayVlan),
    read('--enable-eip-snat <true|false>', 'that ConfigMap and annotations eip and snat of pods are in effect', yesOrNo, enableEipSnat),
    read('--enable-external-vpc <true|false>', 'show the routers of other programs in OVN as external Vpcs', yesOrNo, enableExternalVpc),
    read('--bfd-min-tx <milliseconds>', 'BFD of Vpcs: interval of sending', wholeNumber(1, 60_000), bfdMinTx),
    read('--bfd-min-rx <milliseconds>', 'BFD of Vpcs: interval of receiving', wholeNumber(1, 60_000), bfdMinRx),
    read('--bfd-detect-mult <count>', 'BFD of Vpcs: missed packets after which a session is down', wholeNumber(1, 255), bfdDetectMult),
    read('--enable-lb <true|false>', 'attach load balancers to Subnets without spec.enableLb', yesOrNo, enableLb),
    new Option('--pod-nic-type <type>', 'interface type of pods without the annotation').choices(NIC_TYPES).default(podNicType),
    read('--keep-vm-ip <true|false>', 'stopped virtual machines keep their addresses', yesOrNo, keepVmIp),
    read('--non-primary-cni-mode [true|false]', 'another CNI plugin provides the primary interface of pods', presence, nonPrimaryCni),
    new Option('--network-type <type>', 'tunnel type, for the MTU in DHCP options')
      .choices(['geneve', 'vxlan', 'stt'])
      .default(networkType),
    new Option(
      '--misbound <policy>',
      'pods on another Subnet than their namespace has now: report them, rebind them when they are created again, or evict them',
    )
      .choices(MISBOUND_POLICIES)
      .default(misbound),
    new Option(
      '--tenancy <open|namespaced>',
      'whether pods may use any Subnet and turn port security off, or only Subnets that admit their namespace',
    )
      .choices(TENANCIES)
      .default(tenancy),
    new Option(
      '--global-options <policy>',
      'when to set options of OVN that apply to the whole database: while no other program has switches or routers in it, always, or never',
    )
      .choices(GLOBAL_OPTION_POLICIES)
      .default(globalOptions),
    read('--neighbours <list>', 'other programs in OVN, known by regular expressions: their rows are never touched', neighbours, []),
    new Option('--absence-grace <duration>', 'how long a Vpc, Subnet or OvnEip of Kiln stays after what it was made from is gone')
      .argParser(grace)
      .default(absenceGrace, '10m'),
    new Option('--gc <mode>', 'rows of Kiln that nothing explains: collect them, report them and leave them, or leave them')
      .choices(GC_MODES)
      .default(gc),
    read('--gc-rules <list>', 'the same for some tables, names or owners; the most careful of several is in effect', gcRules, []),
    read('--gc-max-rows <count>', 'more such rows at once wait for kiln gc approve', limit(100_000_000, 'rows'), gcMaxRows),
    read('--gc-max-share <percent>', "so does a larger share of Kiln's rows", limit(100, 'percent'), gcMaxShare),
    read('--gc-share-from <count>', 'number of rows from which on the share counts', limit(100_000_000, 'rows'), gcShareFrom),
    new Option('--gc-kube-ovn-grace <duration>', 'how long an adopted leftover of Kube-OVN stays after nothing explains it')
      .argParser(grace)
      .default(gcKubeOvnGrace, '1h'),
  ];
}

/** For the process with these settings. */
export function addNetworkFlags(command: Command): Command {
  for (const option of networkOptions()) command.addOption(option);
  return command;
}

/**
 * For a command that follows another process: without defaults, and hidden in its help, which would otherwise repeat them for each command.
 */
export function addNetworkOverrides(command: Command): Command {
  for (const option of networkOptions()) command.addOption(option.default(undefined).hideHelp());
  return command;
}

export type NetworkSettings = { readonly ok: true; readonly settings: Settings } | { readonly ok: false; readonly problem: string };

/** The setting of each flag. */
const SETTING: Readonly<Record<keyof NetworkFlags, keyof Settings>> = {
  clusterRouter: 'defaultVpc',
  defaultLs: 'defaultSubnet',
  nodeSwitch: 'joinSubnet',
  externalGatewaySwitch: 'externalSubnet',
  externalGatewayConfigNs: 'externalGatewayConfigNamespace',
  externalGatewayNet: 'externalGatewayNet',
  externalGatewayVlanid: 'externalGatewayVlan',
  enableEipSnat: 'enableEipSnat',
  enableExternalVpc: 'enableExternalVpc',
  bfdMinTx: 'bfdMinTx',
  bfdMinRx: 'bfdMinRx',
  bfdDetectMult: 'bfdDetectMult',
  defaultCidr: 'defaultCidr',
  defaultGateway: 'defaultGateway',
  defaultExcludeIps: 'defaultExcludeIps',
  nodeSwitchCidr: 'joinCidr',
  nodeSwitchGateway: 'joinGateway',
  serviceClusterIpRange: 'serviceCidr',
  enableLb: 'enableLb',
  networkType: 'networkType',
  podNicType: 'podNicType',
  misbound: 'misbound',
  tenancy: 'tenancy',
  globalOptions: 'globalOptions',
  keepVmIp: 'keepVmIp',
  nonPrimaryCniMode: 'nonPrimaryCni',
  neighbours: 'neighbours',
  gc: 'gc',
  gcRules: 'gcRules',
  absenceGrace: 'absenceGrace',
  gcMaxRows: 'gcMaxRows',
  gcMaxShare: 'gcMaxShare',
  gcShareFrom: 'gcShareFrom',
  gcKubeOvnGrace: 'gcKubeOvnGrace',
};

/**
 * Checks that the three networks do not overlap, as Kube-OVN does at its start, that gateways are in their networks, and that the objects
 * have different names.
 * @param base the value of each setting without a flag
 */
export function networkSettings(flags: Partial<NetworkFlags>, base: Settings = DEFAULT_SETTINGS): NetworkSettings {
  const given = (Object.keys(SETTING) as (keyof NetworkFlags)[]).filter((flag) => flags[flag] !== undefined);
  const settings: Settings = { ...base, ...Object.fromEntries(given.map((flag) => [SETTING[flag], flags[flag]])) };
  const named = [
    ['--default-cidr', settings.defaultCidr],
    ['--node-switch-cidr', settings.joinCidr],
    ['--service-cluster-ip-range', settings.serviceCidr],
  ] as const;
  const networks = named.flatMap(([flag, text]) => cidrsOf(text).map((network) => ({ flag, text, network })));
  for (const [i, one] of networks.entries()) {
    const other = networks.slice(i + 1).find(({ flag, network }) => flag !== one.flag && cidrsOverlap(one.network, network));
    if (other !== undefined)
      return { ok: false, problem: `${one.flag} ${one.text} overlaps ${other.flag} ${other.text}; the three networks must be apart` };
  }
  const problem =
    gatewayProblem('--default-gateway', settings.defaultGateway, '--default-cidr', settings.defaultCidr) ??
    gatewayProblem('--node-switch-gateway', settings.joinGateway, '--node-switch-cidr', settings.joinCidr) ??
    excludeProblem(settings) ??
    neighbourProblem(settings) ??
    nameProblem(settings);
  return problem === undefined ? { ok: true, settings } : { ok: false, problem };
}

function gatewayProblem(flag: string, gateway: string, cidrFlag: string, cidrText: string): string | undefined {
  if (gateway === '') return undefined;
  const parsed = parseDualAddress(gateway);
  if (!parsed.ok) return undefined;
  const networks = cidrsOf(cidrText);
  const outside = [parsed.v4, parsed.v6]
    .filter((one) => one !== undefined)
    .find((one) => !networks.some((network) => isUsable(network, one)));
  return outside === undefined
    ? undefined
    : `${flag} ${formatAddress(outside)} is no address that a host of ${cidrFlag} ${cidrText} can have; a gateway lies in its network`;
}

function excludeProblem({ defaultExcludeIps, defaultCidr }: Settings): string | undefined {
  const networks = cidrsOf(defaultCidr).map(cidrRange);
  const outside = defaultExcludeIps.find((item) => {
    const range = parseRange(item);
    return range !== undefined && !networks.some((network) => rangesMeet(network, range));
  });
  return outside === undefined
    ? undefined
    : `--default-exclude-ips ${outside} is outside of --default-cidr ${defaultCidr}; only its addresses can be kept back`;
}

/** A pattern that matches what Kiln makes is a mistake. */
function neighbourProblem({ neighbours: patterns, defaultVpc, defaultSubnet, joinSubnet, externalSubnet }: Settings): string | undefined {
  const routers = [defaultVpc, defaultSubnet, joinSubnet, externalSubnet];
  const ports = [
    `${defaultVpc}-${defaultSubnet}`,
    `${defaultSubnet}-${defaultVpc}`,
    `${defaultVpc}-${joinSubnet}`,
    `${joinSubnet}-${defaultVpc}`,
  ];
  const problem = neighboursProblem(patterns, [...routers, ...ports]);
  return problem === undefined ? undefined : `--neighbours: ${problem}`;
}

function rangesMeet(one: AddressRange, other: AddressRange): boolean {
  return one.family === other.family && one.first <= other.last && other.first <= one.last;
}

/** A Vpc and a Subnet need different names, since the ports between them contain both. */
function nameProblem({ defaultVpc, defaultSubnet, joinSubnet }: Settings): string | undefined {
  const names = [
    ['--cluster-router', defaultVpc],
    ['--default-ls', defaultSubnet],
    ['--node-switch', joinSubnet],
  ] as const;
  for (const [i, [flag, name]] of names.entries()) {
    const other = names.slice(i + 1).find((one) => one[1] === name);
    if (other !== undefined)
      return `${flag} and ${other[0]} are both ${name}; the default Vpc, its Subnet and that of the nodes need names of their own`;
  }
  return undefined;
}

function cidrsOf(text: string): Cidr[] {
  const parsed = parseDualCidr(text);
  if (!parsed.ok) return [];
  return [parsed.v4, parsed.v6].filter((one) => one !== undefined);
}
