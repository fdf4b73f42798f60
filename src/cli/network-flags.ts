/**
 * The network's settings as flags, under Kube-OVN's names, checked before anything starts.
 */
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { cidrsOverlap } from '../net/cidr.ts';
import type { Cidr } from '../net/cidr.ts';
import { formatDualCidr, parseDualAddress, parseDualCidr, splitList } from '../net/dual.ts';
import { parseRange } from '../net/range.ts';
import { DEFAULT_SETTINGS, MISBOUND_POLICIES } from '../world/settings.ts';
import type { Settings } from '../world/settings.ts';

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
  readonly enableLb: boolean;
  readonly networkType: Settings['networkType'];
  readonly podNicType: string;
  readonly misbound: Settings['misbound'];
  readonly keepVmIp: boolean;
  readonly nonPrimaryCniMode: boolean;
}

function cidr(text: string): string {
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

export function yesOrNo(text: string): boolean {
  if (text !== 'true' && text !== 'false') throw new InvalidArgumentError(`"${text}" is neither true nor false.`);
  return text === 'true';
}

/** A flag that may stand alone, as Kube-OVN's may. */
function presence(text: string | boolean): boolean {
  return typeof text === 'boolean' ? text : yesOrNo(text);
}

/** Objects that exist already keep their own values: these are for what is made when it is missing. */
export function addNetworkFlags(command: Command): Command {
  const { defaultVpc, defaultSubnet, joinSubnet, defaultCidr, joinCidr, serviceCidr, enableLb, networkType, podNicType } = DEFAULT_SETTINGS;
  const { keepVmIp, nonPrimaryCni, misbound, externalSubnet } = DEFAULT_SETTINGS;
  return command
    .option('--default-cidr <networks>', 'network of the default Subnet', cidr, defaultCidr)
    .option('--default-gateway <addresses>', 'its gateway; the first address when empty', address, '')
    .option('--default-exclude-ips <ranges>', 'addresses of it that are never given out, with commas', ranges, [])
    .option('--node-switch-cidr <networks>', 'network that joins the nodes', cidr, joinCidr)
    .option('--node-switch-gateway <addresses>', 'its gateway; the first address when empty', address, '')
    .option('--service-cluster-ip-range <networks>', 'network of Services', cidr, serviceCidr)
    .option('--cluster-router <name>', 'the default Vpc', defaultVpc)
    .option('--default-ls <name>', 'the default Subnet', defaultSubnet)
    .option('--node-switch <name>', 'the Subnet that joins the nodes', joinSubnet)
    .option('--external-gateway-switch <name>', 'Subnet of an OvnEip that names none', externalSubnet)
    .option('--enable-lb <true|false>', 'attach load balancers to Subnets that do not say', yesOrNo, enableLb)
    .option('--pod-nic-type <type>', 'written to pods that do not say', podNicType)
    .option('--keep-vm-ip <true|false>', 'virtual machines keep their addresses while they are stopped', yesOrNo, keepVmIp)
    .option('--non-primary-cni-mode [true|false]', 'another plugin gives pods their own interface', presence, nonPrimaryCni)
    .addOption(
      new Option('--network-type <type>', 'tunnel that the MTU of DHCP leaves room for')
        .choices(['geneve', 'vxlan', 'stt'])
        .default(networkType),
    )
    .addOption(
      new Option('--misbound <policy>', 'pods on another Subnet than their namespace has now: only told, moved when made again, or evicted')
        .choices(MISBOUND_POLICIES)
        .default(misbound),
    );
}

export type NetworkSettings = { readonly ok: true; readonly settings: Settings } | { readonly ok: false; readonly problem: string };

/** The three networks must not overlap, as Kube-OVN checks at its start. */
export function networkSettings(flags: NetworkFlags): NetworkSettings {
  const named = [
    ['--default-cidr', flags.defaultCidr],
    ['--node-switch-cidr', flags.nodeSwitchCidr],
    ['--service-cluster-ip-range', flags.serviceClusterIpRange],
  ] as const;
  const networks = named.flatMap(([flag, text]) => cidrsOf(text).map((network) => ({ flag, text, network })));
  for (const [i, one] of networks.entries()) {
    const other = networks.slice(i + 1).find(({ flag, network }) => flag !== one.flag && cidrsOverlap(one.network, network));
    if (other !== undefined)
      return { ok: false, problem: `${one.flag} ${one.text} overlaps ${other.flag} ${other.text}; the three networks must be apart` };
  }
  const settings: Settings = {
    ...DEFAULT_SETTINGS,
    defaultVpc: flags.clusterRouter,
    defaultSubnet: flags.defaultLs,
    joinSubnet: flags.nodeSwitch,
    externalSubnet: flags.externalGatewaySwitch,
    defaultCidr: flags.defaultCidr,
    defaultGateway: flags.defaultGateway,
    defaultExcludeIps: flags.defaultExcludeIps,
    joinCidr: flags.nodeSwitchCidr,
    joinGateway: flags.nodeSwitchGateway,
    serviceCidr: flags.serviceClusterIpRange,
    enableLb: flags.enableLb,
    networkType: flags.networkType,
    podNicType: flags.podNicType,
    misbound: flags.misbound,
    keepVmIp: flags.keepVmIp,
    nonPrimaryCni: flags.nonPrimaryCniMode,
  };
  return { ok: true, settings };
}

function cidrsOf(text: string): Cidr[] {
  const parsed = parseDualCidr(text);
  if (!parsed.ok) return [];
  return [parsed.v4, parsed.v6].filter((one) => one !== undefined);
}
