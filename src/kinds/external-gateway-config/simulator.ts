import { EXTERNAL_GATEWAY_CONFIG } from '../../api/well-known.ts';
import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { NAMES, some } from '../../testing/drawn-kind.ts';

const NAMESPACE = 'kube-system';

/** It comes, is edited in all of its keys, and goes: mostly without a Subnet of that name. */
export const simulator: DrawnKind = {
  weight: 2,
  names: [EXTERNAL_GATEWAY_CONFIG],
  object: (draws) => ({ metadata: { name: EXTERNAL_GATEWAY_CONFIG, namespace: NAMESPACE }, data: drawnData(draws) }),
  patch: (draws) => ({ patch: { data: drawnData(draws) } }),
};

function drawnData(draws: Draws): DrawnSpec {
  return {
    'enable-external-gw': draws.pick(['true', 'true', 'true', 'false', 'no']),
    'external-gw-nodes': some(draws, [...NAMES.nodes, 'nobody']).join(','),
    type: draws.pick(['centralized', '', 'distributed']),
    'nic-ip': draws.pick(['172.30.0.9/24', '172.30.0.8/24', '', 'oops']),
    'nic-mac': draws.pick(['', '0a:00:00:00:00:09', 'oops']),
    'external-gw-addr': draws.pick(['172.30.0.1/24', '']),
  };
}
