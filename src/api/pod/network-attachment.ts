/**
 * Which program implements an attached network, by the CNI configuration of its NetworkAttachmentDefinition: Kube-OVN's plugin as a whole,
 * its IPAM beside another plugin, or another plugin alone. Also finds the parts of that configuration that no plugin can read.
 */
import type { Breach } from '../validation/finding.ts';
import { DEFAULT_PROVIDER } from '../well-known.ts';

export type AttachmentKind = 'ovn' | 'ipam-only' | 'foreign' | 'unreadable';

const PLUGIN = 'kube-ovn';

/** @param config `spec.config`: JSON of one plugin or of a list of plugins */
export const attachmentKind = (config: string | undefined): AttachmentKind => {
  if (isAbsent(config)) return 'foreign';
  const top = fieldsOf(parseJson(config));
  if (top === undefined) return 'unreadable';
  const plugins = pluginsOf(top).map(([, plugin]) => plugin);
  if (plugins.some(({ type }) => type === PLUGIN)) return 'ovn';
  return plugins.some(({ ipam }) => fieldsOf(ipam)?.['type'] === PLUGIN) ? 'ipam-only' : 'foreign';
};

/**
 * Whether Kube-OVN's plugin, or its IPAM, requests the addresses of the pod's default interface: without a provider, as the cluster's
 * default network does. A pod that attaches such a network, or has it instead of its own, has addresses under the name of the network.
 */
export const asksForDefaultInterface = (config: string | undefined): boolean => {
  const top = isAbsent(config) ? undefined : fieldsOf(parseJson(config));
  if (top === undefined) return false;
  return pluginsOf(top).some(([, plugin]) => {
    const fields = plugin['type'] === PLUGIN ? plugin : fieldsOf(plugin['ipam']);
    const provider = fields?.['type'] === PLUGIN ? (fields['provider'] ?? '') : undefined;
    return provider === '' || provider === DEFAULT_PROVIDER;
  });
};

/**
 * The faults of a configuration, by field. Empty if a container runtime can read it, and Kube-OVN's plugin requests the interface that the
 * pod gets.
 */
export const attachmentBreaches = ({ namespace, name }: AttachmentName, config: string | undefined): readonly Breach[] => {
  if (isAbsent(config)) return [];
  const parsed = parseJson(config);
  const top = fieldsOf(parsed);
  if (top === undefined) {
    const problem = parsed === undefined ? 'is not JSON' : 'is JSON, but no object';
    return [{ code: 'InvalidNetwork', field: CONFIG, value: config, problem, rule: 'it is a CNI configuration, an object in JSON' }];
  }
  const own = `${name}.${namespace}`;
  return [
    ...topBreaches(top),
    ...pluginsOf(top).flatMap(([path, plugin]) => [...pluginBreaches(path, plugin), ...providerBreaches(path, plugin, own)]),
  ];
};

/** A NetworkAttachmentDefinition. */
export interface AttachmentName {
  readonly namespace: string;
  readonly name: string;
}

type Fields = Readonly<Record<string, unknown>>;

const CONFIG = 'spec.config';
/** Fields of a network and of its plugins (CNI specification 1.1, section 1). */
const TOP_TEXTS = ['cniVersion', 'name'];
/** Fields of Kube-OVN's plugin, as main plugin and as IPAM plugin. */
const KUBE_OVN_TEXTS = ['provider', 'server_socket'];

/** Without `config` the configuration is a file on the nodes. */
function isAbsent(config: string | undefined): config is undefined | '' {
  return config === undefined || config.trim() === '';
}

/** The configuration itself and the plugins in its list, each with its path. */
function pluginsOf(top: Fields): readonly (readonly [path: string, plugin: Fields])[] {
  const listed = Array.isArray(top['plugins']) ? (top['plugins'] as readonly unknown[]) : [];
  const found = listed.map((one, index) => [`${CONFIG}.plugins[${index}]`, fieldsOf(one)] as const);
  return [[CONFIG, top], ...found.flatMap(([path, plugin]) => (plugin === undefined ? [] : [[path, plugin] as const]))];
}

function topBreaches(top: Fields): readonly Breach[] {
  const { plugins, type } = top;
  const texts = textBreaches(CONFIG, top, TOP_TEXTS);
  if (plugins === undefined)
    return isNothing(type)
      ? [...texts, breach(`${CONFIG}.type`, '', 'is missing', 'a CNI configuration names its plugin, or has a list of plugins')]
      : texts;
  if (!Array.isArray(plugins)) return [...texts, wrong(`${CONFIG}.plugins`, plugins, 'a list of plugins')];
  if (plugins.length === 0)
    return [...texts, breach(`${CONFIG}.plugins`, '[]', 'is empty', 'a runtime runs the plugins of the list: name one at least')];
  const listed = (plugins as readonly unknown[]).flatMap((plugin, index) => {
    const path = `${CONFIG}.plugins[${index}]`;
    const fields = fieldsOf(plugin);
    if (fields === undefined) return [wrong(path, plugin, 'an object, the configuration of a plugin')];
    return isNothing(fields['type']) ? [breach(`${path}.type`, '', 'is missing', 'each plugin of the list is named by its type')] : [];
  });
  return [...texts, ...listed];
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === '';
}

/**
 * The plugin requests the interface of its `provider`, but the pod has the interface of the definition: with another provider, the plugin
 * waits forever. Without a provider it requests the pod's default interface, as the cluster's default network does.
 */
function providerBreaches(path: string, plugin: Fields, own: string): readonly Breach[] {
  const ipam = fieldsOf(plugin['ipam']);
  const [at, fields, expected] =
    plugin['type'] === PLUGIN
      ? ([path, plugin, `${own}.${DEFAULT_PROVIDER}`] as const)
      : ([`${path}.ipam`, ipam?.['type'] === PLUGIN ? ipam : undefined, own] as const);
  const provider = fields?.['provider'];
  if (typeof provider !== 'string' || ['', DEFAULT_PROVIDER, expected].includes(provider)) return [];
  return [
    breach(
      `${at}.provider`,
      provider,
      'is not the name of this network',
      `the plugin waits for addresses of that provider, and a pod attached to this network has those of ${expected}: write ${expected}`,
    ),
  ];
}

function pluginBreaches(path: string, plugin: Fields): readonly Breach[] {
  const { type, ipam } = plugin;
  const own = textBreaches(path, plugin, type === PLUGIN ? ['type', ...KUBE_OVN_TEXTS] : ['type']);
  const addresses = fieldsOf(ipam);
  if (addresses === undefined) return ipam === undefined ? own : [...own, wrong(`${path}.ipam`, ipam, 'an object with a type')];
  return [...own, ...textBreaches(`${path}.ipam`, addresses, addresses['type'] === PLUGIN ? ['type', ...KUBE_OVN_TEXTS] : ['type'])];
}

function textBreaches(path: string, fields: Fields, names: readonly string[]): readonly Breach[] {
  return names.flatMap((name) => {
    const value = fields[name];
    return value === undefined || typeof value === 'string' ? [] : [wrong(`${path}.${name}`, value, 'a text')];
  });
}

function wrong(field: string, value: unknown, expected: string): Breach {
  return breach(field, JSON.stringify(value), `is ${typeName(value)}`, `a plugin reads ${expected} there`);
}

function breach(field: string, value: string, problem: string, rule: string): Breach {
  return { code: 'InvalidNetwork', field, value, problem, rule };
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return { string: 'a text', number: 'a number', boolean: 'true or false', object: 'an object' }[typeof value as string] ?? 'unknown';
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
