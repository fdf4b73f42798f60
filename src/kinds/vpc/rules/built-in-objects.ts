/**
 * Objects that every cluster has: the default Vpc, the default Subnet and the join Subnet. Missing objects are created from the settings;
 * for an existing object its spec counts.
 */
import { API_VERSION } from '../../../api/schema/kind.ts';
import { DEFAULT_PROVIDER } from '../../../api/well-known.ts';
import { firstUsable } from '../../../net/cidr.ts';
import { formatDualAddress, mapDual, parseDualCidr } from '../../../net/dual.ts';
import { ONCE } from '../../../engine/domain.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Settings } from '../../../world/settings.ts';
import type { Rule } from '../../../compile/rule.ts';
import type { Json, Output } from '../../../compile/output.ts';
import { vpcView } from '../../../compile/vpc/vpc-view.ts';

export const builtinObjects: Rule = {
  name: 'builtin-objects',
  over: () => ONCE,
  run: (world) => {
    const { settings } = world;
    const outputs: Output[] = [];
    if (world.ask(vpcIntent, settings.defaultVpc) === undefined) {
      outputs.push({ kind: 'create', resource: 'vpcs', key: settings.defaultVpc, object: objectOf('Vpc', settings.defaultVpc, {}) });
    }
    // Without nodes its deletion goes through, and a new Subnet would only block it. With nodes it waits anyway.
    if (world.ask(vpcView, settings.defaultVpc)?.terminating === true && world.nodes.keys().size === 0) return outputs;
    if (world.ask(subnetIntent, settings.defaultSubnet) === undefined)
      outputs.push(subnet(settings.defaultSubnet, defaultSubnetSpec(settings)));
    if (world.ask(subnetIntent, settings.joinSubnet) === undefined) outputs.push(subnet(settings.joinSubnet, joinSubnetSpec(settings)));
    return outputs;
  },
};

function defaultSubnetSpec(settings: Settings): Readonly<Record<string, Json>> {
  const gateway = gatewayOf(settings.defaultCidr, settings.defaultGateway);
  return {
    vpc: settings.defaultVpc,
    default: true,
    provider: DEFAULT_PROVIDER,
    cidrBlock: settings.defaultCidr,
    gateway,
    excludeIps: settings.defaultExcludeIps.length > 0 ? settings.defaultExcludeIps : gateway.split(','),
    natOutgoing: true,
    private: false,
    gatewayType: 'distributed',
    enableLb: settings.enableLb,
  };
}

function joinSubnetSpec(settings: Settings): Readonly<Record<string, Json>> {
  const gateway = gatewayOf(settings.joinCidr, settings.joinGateway);
  return {
    vpc: settings.defaultVpc,
    default: false,
    provider: DEFAULT_PROVIDER,
    cidrBlock: settings.joinCidr,
    gateway,
    excludeIps: gateway.split(','),
    natOutgoing: false,
    private: false,
    disableInterConnection: true,
  };
}

function gatewayOf(cidr: string, requested: string): string {
  if (requested !== '') return requested;
  const parsed = parseDualCidr(cidr);
  return parsed.ok
    ? formatDualAddress(
        mapDual({ ...(parsed.v4 !== undefined && { v4: parsed.v4 }), ...(parsed.v6 !== undefined && { v6: parsed.v6 }) }, firstUsable),
      )
    : '';
}

function subnet(name: string, spec: Readonly<Record<string, Json>>): Output {
  return { kind: 'create', resource: 'subnets', key: name, object: objectOf('Subnet', name, spec) };
}

function objectOf(kind: string, name: string, spec: Readonly<Record<string, Json>>): { readonly [key: string]: Json } {
  return { apiVersion: API_VERSION, kind, metadata: { name }, spec };
}
