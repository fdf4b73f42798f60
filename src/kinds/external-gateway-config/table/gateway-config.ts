/**
 * The ConfigMap with the external gateway of the default Vpc: what each of its keys requests. As with Kube-OVN, only the literal text
 * `false` of `enable-external-gw` turns it off, and a ConfigMap that does not exist requests nothing.
 */
import { EXTERNAL_GATEWAY_CONFIG } from '../../../api/well-known.ts';
import { formatAddress, parseAddress } from '../../../net/address.ts';
import { isUsable, parseInterfaceAddress } from '../../../net/cidr.ts';
import type { Dual } from '../../../net/dual.ts';
import { splitList } from '../../../net/dual.ts';
import { macProblem, parseMac } from '../../../net/mac.ts';
import type { Settings } from '../../../world/settings.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

export interface ExternalGatewayConfig {
  readonly uid: string;
  readonly enabled: boolean;
  /** Only nodes that users labelled are gateway nodes, and each node translates for its own pods. */
  readonly distributed: boolean;
  /** Names of gateway nodes, in their order; empty if `distributed`. */
  readonly nodes: readonly string[];
  /** The same names, also if `distributed`: those that were made gateway nodes stay so, in this order. */
  readonly listed: readonly string[];
  /** Addresses of the router port with their prefix lengths, IPv4 first; empty: an OvnEip has them. */
  readonly networks: readonly string[];
  /** Of the router port; empty: derived. */
  readonly mac: string;
  /** Next hops; empty families have the gateway of the external Subnet. */
  readonly nextHops: Dual<string>;
  /** What keeps the port from being made. */
  readonly invalid: readonly KeyProblem[];
  /** What is ineffective. */
  readonly ineffective: readonly KeyProblem[];
}

/** What is wrong with a key. */
export interface KeyProblem {
  readonly key: string;
  readonly value: string;
  /** Continues a sentence after the quoted value. */
  readonly problem: string;
  readonly rule: string;
}

/** Namespace and name of the ConfigMap. */
export function gatewayConfigKey({ externalGatewayConfigNamespace }: Settings): string {
  return `${externalGatewayConfigNamespace}/${EXTERNAL_GATEWAY_CONFIG}`;
}

/** Undefined if there is none, or the setting turns it off. Its key is empty. */
export const externalGatewayConfig: Query<ExternalGatewayConfig | undefined> = defineQuery('external-gateway-config', (world) => {
  const { settings } = world;
  if (!settings.enableEipSnat) return undefined;
  const config = world.externalGatewayConfigs.get(gatewayConfigKey(settings));
  if (config === undefined || config.metadata.deletionTimestamp !== undefined) return undefined;
  return configOf(config.metadata.uid, config.spec);
});

/** The same, if it is turned on. */
export function enabledGatewayConfig(world: World): ExternalGatewayConfig | undefined {
  const config = world.ask(externalGatewayConfig, '');
  return config?.enabled === true ? config : undefined;
}

/** `external-gw-nic` is for the agents of the nodes. */
const KEYS: readonly string[] = [
  'enable-external-gw',
  'external-gw-nodes',
  'type',
  'external-gw-nic',
  'external-gw-addr',
  'nic-ip',
  'nic-mac',
];

function configOf(uid: string, data: Readonly<Record<string, string>>): ExternalGatewayConfig {
  const invalid: KeyProblem[] = [];
  const ineffective: KeyProblem[] = [];
  const text = (key: string): string => (data[key] ?? '').trim();
  const say = (to: KeyProblem[], key: string, value: string, problem: string, rule: string): void =>
    void to.push({ key, value, problem, rule });

  const switchedBy = data['enable-external-gw'] ?? 'true';
  if (switchedBy !== 'true' && switchedBy !== 'false')
    say(
      ineffective,
      'enable-external-gw',
      switchedBy,
      'is neither true nor false',
      'only the text false turns the gateway off, so it is on',
    );
  const type = text('type');
  if (!['', 'centralized', 'distributed'].includes(type))
    say(ineffective, 'type', type, 'is not known', 'it is centralized, distributed or empty, and any other text means centralized');
  const distributed = type === 'distributed';
  const listed = [...new Set(splitList(data['external-gw-nodes'] ?? '').filter((name) => name !== ''))];
  if (distributed && listed.length > 0)
    say(
      ineffective,
      'external-gw-nodes',
      listed.join(','),
      'has no effect with type distributed',
      'then the nodes with label ovn.kubernetes.io/external-gw=true are the gateway nodes, and keep it until somebody removes it',
    );
  const networks = networksOf(text('nic-ip'), (value, problem) =>
    say(invalid, 'nic-ip', value, problem, 'the router port has one address with its prefix length, or one of each family with a comma'),
  );
  const macText = text('nic-mac');
  const mac = macText === '' ? undefined : parseMac(macText);
  if (macText !== '' && mac === undefined)
    say(invalid, 'nic-mac', macText, macProblem(macText) ?? 'is no MAC address', 'it is one MAC address');
  if (mac !== undefined && networks.length === 0 && text('nic-ip') === '')
    say(ineffective, 'nic-mac', macText, 'has no effect without nic-ip', 'the router port has the addresses and the MAC of its OvnEip');
  const nextHops = hopsOf(data['external-gw-addr'] ?? '', (value) =>
    say(
      ineffective,
      'external-gw-addr',
      value,
      'is no address',
      'it is the next hop outside, with or without a prefix length, or one of each family',
    ),
  );
  for (const key of Object.keys(data).toSorted())
    if (!KEYS.includes(key)) say(ineffective, key, data[key] ?? '', 'is no key of this ConfigMap', `its keys are ${KEYS.join(', ')}`);
  return {
    uid,
    enabled: switchedBy !== 'false',
    distributed,
    nodes: distributed ? [] : listed,
    listed,
    networks,
    mac: mac ?? '',
    nextHops,
    invalid,
    ineffective,
  };
}

function networksOf(text: string, wrong: (value: string, problem: string) => void): readonly string[] {
  const found = new Map<4 | 6, string>();
  for (const item of splitList(text)) {
    const parsed = parseInterfaceAddress(item);
    if (parsed === undefined) wrong(text, 'is no address with a prefix length');
    else if (!isUsable(parsed.cidr, parsed.address)) wrong(text, 'has an address that no host of its network can have');
    else if (found.has(parsed.address.family)) wrong(text, 'has two addresses of one family');
    else found.set(parsed.address.family, `${formatAddress(parsed.address)}/${parsed.cidr.prefix}`);
  }
  return ([4, 6] as const).flatMap((family) => found.get(family) ?? []);
}

function hopsOf(text: string, wrong: (value: string) => void): Dual<string> {
  const hops: { v4?: string; v6?: string } = {};
  for (const item of splitList(text)) {
    const address = parseAddress(item.split('/', 1)[0] ?? '');
    if (address === undefined) wrong(text);
    else hops[address.family === 4 ? 'v4' : 'v6'] ??= formatAddress(address);
  }
  return hops;
}
