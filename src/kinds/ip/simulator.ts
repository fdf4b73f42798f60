import { kilnAnnotation } from '../../api/well-known.ts';
import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { NAMES, someAddress } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 6,
  names: NAMES.pods.flatMap((pod) => NAMES.namespaces.map((namespace) => `${pod}.${namespace}`)),
  object: reservedAddress,
  patch: (draws) => ({
    patch: draws.chance(0.5)
      ? { metadata: { annotations: { [kilnAnnotation.lease]: draws.pick(['1s', '30s', 'x']) } } }
      : { spec: { subnet: draws.pick(NAMES.subnets), ipAddress: someAddress(draws) } },
  }),
};

/** An IP object that a user makes. */
function reservedAddress(draws: Draws): DrawnSpec {
  const namespace = draws.pick(NAMES.namespaces);
  const pod = draws.pick(NAMES.pods);
  const spec: DrawnSpec = {
    subnet: draws.pick(NAMES.subnets),
    podName: pod,
    namespace,
    podType: draws.pick(['', 'StatefulSet', 'VirtualMachine']),
  };
  if (draws.chance(0.7)) spec['v4IpAddress'] = spec['ipAddress'] = draws.pick(['10.1.0.2', '10.1.0.3', '10.1.1.10', '10.2.0.3']);
  return { metadata: { name: `${pod}.${namespace}` }, spec };
}
