/** Flags of Kube-OVN's controller: which are settings of Kiln, and what those do that Kiln has not. */
import { Command } from 'commander';
import { variableOf } from '../settings/configuration.ts';
import type { NetworkFlags } from '../settings/network-flags.ts';
import { addNetworkFlags, addNetworkOverrides } from '../settings/network-flags.ts';

export interface FlagWithoutCounterpart {
  /** As written. */
  readonly flag: string;
  readonly message: string;
  /** Whether something that works now would stop; else it is only to be known. */
  readonly stops: boolean;
}

export interface KubeOvnFlags {
  /** Kiln's settings with their values. */
  readonly settings: Partial<NetworkFlags>;
  /** The same as flags of Kiln, without those that have Kiln's default. */
  readonly asFlags: readonly string[];
  /** The same as environment variables of Kiln's controller. */
  readonly asVariables: readonly string[];
  readonly without: readonly FlagWithoutCounterpart[];
}

/** Flags of Kube-OVN that Kiln has under another name. */
const RENAMED: Readonly<Record<string, string>> = { 'detect-mult': 'bfd-detect-mult' };

interface Meaning {
  /** Values that ask for nothing. */
  readonly idle: readonly string[];
  readonly stops: boolean;
  readonly message: string;
}

const OFF = ['false', ''];
/** Flags that Kiln has not, and that change what Kube-OVN does. All others are about the process itself, or about objects that exist already. */
const WITHOUT: Readonly<Record<string, Meaning>> = {
  'enable-lb-svc': { idle: OFF, stops: true, message: 'Services of type LoadBalancer get no pod of their own with an external address' },
  'enable-ovn-lb-prefer-local': { idle: OFF, stops: true, message: 'load balancers do not prefer backends of the same node' },
  'enable-anp': { idle: OFF, stops: true, message: 'AdminNetworkPolicies and their like are not enforced, and not read' },
  'enable-dns-name-resolver': { idle: OFF, stops: true, message: 'no policy is enforced by the names of DNS' },
  'enable-ovn-ipsec': { idle: OFF, stops: true, message: 'certificates of the tunnels between nodes are not signed and renewed any more' },
  'node-local-dns-ip': { idle: [''], stops: true, message: 'addresses of the node-local DNS are not kept up in OVN' },
  'skip-conntrack-dst-cidrs': { idle: [''], stops: false, message: 'the option of OVN stays as it is, and follows no change of the flag' },
  'enable-ecmp': {
    idle: OFF,
    stops: false,
    message: 'it is a field of each Subnet (spec.enableEcmp): new Subnets do not get it by themselves',
  },
  'np-enforcement': { idle: ['standard', ''], stops: false, message: 'NetworkPolicies are not implemented' },
};

/** A value that the kubelet puts in. */
const SUBSTITUTED = /\$\(/;

export function kubeOvnFlags(args: readonly string[]): KubeOvnFlags {
  const known = new Map(addNetworkOverrides(scratch()).options.map((option) => [option.name(), option]));
  const without: FlagWithoutCounterpart[] = [];
  const settings: Record<string, unknown> = {};
  const asFlags: string[] = [];
  const asVariables: string[] = [];
  for (const arg of args) {
    const [, name = '', value = 'true'] = /^--([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const own = RENAMED[name] ?? name;
    const option = known.get(own);
    if (option === undefined) {
      const meaning = WITHOUT[name];
      if (meaning !== undefined && !meaning.idle.includes(value))
        without.push({ flag: arg, message: meaning.message, stops: meaning.stops });
      continue;
    }
    // An empty value is Kube-OVN's default.
    if (value === '') continue;
    const read = SUBSTITUTED.test(value) ? undefined : parsed(own, value);
    if (read === undefined)
      without.push({ flag: arg, message: `Kiln has no such value of --${own}: its default is assumed`, stops: false });
    else {
      settings[option.attributeName()] = read.value;
      if (read.isDefault) continue;
      asFlags.push(`--${own}=${value}`);
      asVariables.push(`${variableOf(option.attributeName())}=${value}`);
    }
  }
  return { settings, asFlags, asVariables, without };
}

/** The value as the command line of Kiln reads it; undefined if it refuses it. */
function parsed(name: string, value: string): { readonly value: unknown; readonly isDefault: boolean } | undefined {
  try {
    const [given, defaults] = [addNetworkOverrides(scratch()), scratch()];
    given.parse([`--${name}=${value}`], { from: 'user' });
    const [key] = Object.keys(given.opts());
    if (key === undefined) return undefined;
    addNetworkFlags(defaults).parse([], { from: 'user' });
    const read = given.opts<Record<string, unknown>>()[key];
    return { value: read, isDefault: JSON.stringify(defaults.opts<Record<string, unknown>>()[key]) === JSON.stringify(read) };
  } catch {
    return undefined;
  }
}

function scratch(): Command {
  const silent = (): void => undefined;
  return new Command().exitOverride().configureOutput({ writeOut: silent, writeErr: silent });
}
