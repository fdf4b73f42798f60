import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { names, NAMES, some } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 5,
  names: names('pool', 3),
  spec: poolSpec,
};

function poolSpec(draws: Draws): DrawnSpec {
  const spec: DrawnSpec = {
    subnet: draws.pick(NAMES.subnets),
    ips: [draws.pick(['10.1.0.2..10.1.0.4', '10.1.1.10..10.1.1.12', '10.3.0.7', '10.2.0.0/29', 'fd00:1::10', 'nonsense'])],
  };
  if (draws.chance(0.3)) spec['namespaces'] = some(draws, NAMES.namespaces);
  return spec;
}
