import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { NAMES, some } from '../../testing/drawn-kind.ts';

const CIDRS = [
  ...['10.1.0.0/29', '10.1.0.0/28', '10.1.1.0/24', '10.2.0.0/28', '10.3.0.0/24', '10.16.4.0/24', 'fd00:1::/120', 'fd00:2::/124'],
  ...['10.4.0.0/28,fd00:4::/120', '10.5.0.0/29,fd00:5::/125', '10.1.1.128/25'],
];
/** Typing errors. */
const NONSENSE = ['10.1.0.0/33', '', '10.300.0.0/24', 'net', '10.1.0.0/31', '0.0.0.0/0', '10.6.0.0/24,10.7.0.0/24'];

export const simulator: DrawnKind = {
  weight: 14,
  names: NAMES.subnets,
  spec: subnetSpec,
  edit: (draws) => {
    const { cidrBlock = '', vpc = 'v0', ...rest } = subnetSpec(draws);
    const spec: DrawnSpec = {
      private: null,
      gatewayType: null,
      gatewayNode: null,
      enableDHCP: null,
      vips: null,
      enableEcmp: null,
      ...rest,
    };
    // Immutable fields are edited now and then all the same.
    if (draws.chance(0.15)) spec['cidrBlock'] = cidrBlock;
    if (draws.chance(0.1)) spec['vpc'] = vpc;
    return spec;
  },
};

function subnetSpec(draws: Draws): DrawnSpec {
  const cidr = draws.chance(0.06) ? draws.pick(NONSENSE) : draws.pick(CIDRS);
  const spec: DrawnSpec = { cidrBlock: cidr };
  if (draws.chance(0.75)) spec['vpc'] = draws.pick(NAMES.vpcs);
  if (draws.chance(0.5)) spec['namespaces'] = some(draws, NAMES.namespaces);
  if (draws.chance(0.1)) spec['namespaceSelectors'] = [{ matchLabels: { team: draws.pick(['a', 'b']) } }];
  if (draws.chance(0.2)) spec['excludeIps'] = [draws.pick(['10.1.0.2', '10.1.0.2..10.1.0.4', 'fd00:1::5', '10.3.0.2..10.3.0.100'])];
  if (draws.chance(0.15)) spec['private'] = true;
  if (draws.chance(0.1)) spec['allowSubnets'] = ['10.9.0.0/16'];
  if (draws.chance(0.15)) {
    spec['gatewayType'] = 'centralized';
    spec['gatewayNode'] = some(draws, NAMES.nodes).join(',');
  }
  if (draws.chance(0.15)) spec['enableDHCP'] = true;
  if (draws.chance(0.1)) spec['vips'] = [draws.pick(['10.1.0.3', '10.1.1.11', '10.2.0.3', 'fd00:1::5'])];
  if (draws.chance(0.1)) spec['enableEcmp'] = true;
  if (draws.chance(0.1))
    spec['acls'] = [{ action: 'drop', direction: 'to-lport', match: 'ip4.src==10.8.0.0/16', priority: 1000 + draws.below(3) }];
  if (draws.chance(0.15)) {
    spec['vlan'] = draws.pick(['vlan0', 'vlan1', 'vlan2']);
    if (draws.chance(0.4)) spec['logicalGateway'] = true;
    else if (draws.chance(0.5)) spec['u2oInterconnection'] = true;
  }
  if (draws.chance(0.1)) spec['provider'] = draws.pick([...NAMES.networks].map((name) => `${name}.ns0.ovn`));
  return spec;
}
