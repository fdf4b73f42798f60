/**
 * Ineffective fields of a Subnet: they need another setting that is absent. Kiln reports them, since the user expects an effect. Fields
 * that Kiln does not implement at all are reported elsewhere.
 */
import type { Finding } from './finding.ts';
import { findingOf } from './finding.ts';
import { isOvnProvider } from '../names.ts';
import type { NamedSubnet, SubnetSettings } from '../defaults/subnet-defaults.ts';
import { isTableOfHost } from '../routing-tables.ts';
import { effectiveProvider, effectiveVpc, isMacOnly, subnetCidrs } from '../defaults/subnet-defaults.ts';

interface Need {
  readonly what: string;
  readonly met: boolean;
}

/**
 * One finding for each ineffective field, with the first missing setting.
 * @param inBfdVpc whether its Vpc has `enableBfd`
 */
export const ineffectiveSubnetFields = (
  { name, spec }: NamedSubnet,
  settings: Pick<SubnetSettings, 'defaultVpc'>,
  inBfdVpc: boolean,
): readonly Finding[] => {
  const { dhcpV4Options = '', dhcpV6Options = '', ipv6RAConfigs = '', allowSubnets = [], acls = [], routeTable = '' } = spec;
  const { gatewayType = '', gatewayNode = '', gatewayNodeSelectors = [], vlan = '' } = spec;
  const { natOutgoingPolicyRules: rules = [] } = spec;
  const { v4, v6 } = subnetCidrs(spec);
  const mac = isMacOnly(spec);
  const ovn = { what: 'a network that OVN carries, and spec.provider names another', met: isOvnProvider(effectiveProvider(spec)) };
  const ipv4 = { what: 'an IPv4 network in spec.cidrBlock', met: v4 !== undefined || mac };
  const ipv6 = { what: 'an IPv6 network in spec.cidrBlock', met: v6 !== undefined || mac };
  const dhcp = { what: 'spec.enableDHCP true', met: spec.enableDHCP === true };
  const inDefault = { what: `the default Vpc, ${settings.defaultVpc}`, met: effectiveVpc(spec, settings) === settings.defaultVpc };
  const nat = { what: 'spec.natOutgoing true', met: spec.natOutgoing === true };
  // Node agents translate what leaves through the router of the default Vpc. `natOutgoingPolicyRules` are exceptions to that.
  const routed = { what: 'spec.logicalGateway true', met: vlan === '' || spec.logicalGateway === true };
  const networks = { what: 'spec.cidrBlock', met: v4 !== undefined || v6 !== undefined };
  const centralized = { what: 'spec.gatewayType centralized', met: gatewayType === 'centralized' };
  // In a custom Vpc it shares the traffic over the gateway nodes that BFD watches.
  const bfd = { what: `the default Vpc, ${settings.defaultVpc}, or a Vpc with spec.enableBfd true`, met: inBfdVpc };
  const { externalEgressGateway: egress = '', policyRoutingTableID: table = 0, policyRoutingPriority: priority = 0 } = spec;
  const ownTable = {
    what: 'a spec.policyRoutingTableID that is not 0 and not 253 to 255, which are the tables of the host',
    met: !isTableOfHost(table),
  };
  const gateway = { what: 'spec.externalEgressGateway', met: egress !== '' };
  const set: readonly (readonly [field: string, value: string, needs: readonly Need[]])[] = [
    ['enableDHCP', spec.enableDHCP === true ? 'true' : '', [ovn]],
    ['dhcpV4Options', dhcpV4Options, [ovn, dhcp, ipv4]],
    ['dhcpV6Options', dhcpV6Options, [ovn, dhcp, ipv6]],
    ['enableIPv6RA', spec.enableIPv6RA === true ? 'true' : '', [ovn, ipv6]],
    ['ipv6RAConfigs', ipv6RAConfigs, [ovn, { what: 'spec.enableIPv6RA true', met: spec.enableIPv6RA === true }, ipv6]],
    ['private', spec.private === true ? 'true' : '', [ovn]],
    ['allowSubnets', allowSubnets.join(','), [ovn, { what: 'spec.private true', met: spec.private === true }]],
    ['acls', acls.length === 0 ? '' : JSON.stringify(acls), [ovn]],
    ['allowEWTraffic', spec.allowEWTraffic === true ? 'true' : '', [ovn, { what: 'spec.acls', met: acls.length > 0 }]],
    ['routeTable', routeTable, [ovn]],
    ['natOutgoing', nat.met ? 'true' : '', [ovn, inDefault, routed, networks]],
    ['natOutgoingPolicyRules', rules.length === 0 ? '' : JSON.stringify(rules), [nat, ovn, inDefault, routed, networks]],
    ['externalEgressGateway', egress, [ovn, inDefault, routed, networks, ownTable]],
    ['policyRoutingTableID', table === 0 ? '' : String(table), [gateway]],
    ['policyRoutingPriority', priority === 0 ? '' : String(priority), [gateway]],
    ['gatewayType', centralized.met ? gatewayType : '', [ovn, inDefault]],
    ['gatewayNode', gatewayNode, [ovn, inDefault, centralized]],
    ['gatewayNodeSelectors', gatewayNodeSelectors.length === 0 ? '' : JSON.stringify(gatewayNodeSelectors), [ovn, inDefault, centralized]],
    ['enableEcmp', spec.enableEcmp === true ? 'true' : '', [ovn, inDefault.met ? centralized : bfd]],
    ['logicalGateway', spec.logicalGateway === true ? 'true' : '', [{ what: 'spec.vlan', met: vlan !== '' }]],
  ];
  return set.flatMap(([field, value, needs]) => {
    if (value === '') return [];
    const missing = needs.find(({ met }) => !met);
    if (missing === undefined) return [];
    const rule = `it takes effect together with ${missing.what}`;
    return [
      findingOf(
        { kind: 'Subnet', name },
        { code: 'NeedsAnotherField', field: `spec.${field}`, value, problem: 'has no effect alone', rule },
      ),
    ];
  });
};
