import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { NAMES, some } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 6,
  names: NAMES.vpcs,
  spec: vpcSpec,
  edit: (draws) => ({
    namespaces: null,
    staticRoutes: null,
    policyRoutes: null,
    vpcPeerings: null,
    enableExternal: null,
    enableBfd: null,
    bfdPort: null,
    ...vpcSpec(draws),
  }),
};

function bfdPort(draws: Draws): DrawnSpec {
  const port: DrawnSpec = { enabled: draws.chance(0.8), ip: draws.pick(['10.255.255.255', '10.1.0.2', 'fd00:1::5', 'oops']) };
  return draws.chance(0.5) ? { ...port, nodeSelector: { matchLabels: { zone: draws.pick(['x', 'y', 'n1']) } } } : port;
}

function vpcSpec(draws: Draws): DrawnSpec {
  const spec: DrawnSpec = {};
  if (draws.chance(0.4)) spec['namespaces'] = some(draws, NAMES.namespaces);
  if (draws.chance(0.3))
    spec['staticRoutes'] = [
      { cidr: draws.pick(['0.0.0.0/0', '10.9.0.0/16']), nextHopIP: draws.pick(['10.1.0.2', '10.2.0.2', 'x']), policy: 'policyDst' },
    ];
  if (draws.chance(0.2))
    spec['policyRoutes'] = [{ priority: 10 + draws.below(3), match: 'ip4.src==10.1.0.0/24', action: draws.pick(['allow', 'drop']) }];
  if (draws.chance(0.2))
    spec['vpcPeerings'] = [{ remoteVpc: draws.pick(NAMES.vpcs), localConnectIP: `169.254.0.${1 + draws.below(2)}/30` }];
  if (draws.chance(0.25)) {
    spec['enableExternal'] = true;
    if (draws.chance(0.8)) spec['extraExternalSubnets'] = some(draws, NAMES.subnets);
  }
  if (draws.chance(0.15)) spec['enableBfd'] = true;
  if (draws.chance(0.15)) spec['bfdPort'] = bfdPort(draws);
  if (draws.chance(0.2)) spec['defaultSubnet'] = draws.pick(NAMES.subnets);
  return spec;
}
