import { annotationKey, labelKey } from '../../api/well-known.ts';
import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 3,
  names: NAMES.nodes,
  object: (draws) => drawnNode(draws.pick(NAMES.nodes)),
  patch: (draws, name) => ({
    patch: { metadata: draws.chance(0.5) ? { labels: { zone: draws.pick(['x', 'y']) } } : gateway(draws, name) },
  }),
};

/** Whether it hosts ports of Vpcs in external Subnets, as a user says with a label; its agent has told its chassis. */
function gateway(draws: Draws, name: string): DrawnSpec {
  const label = draws.pick(['true', 'true', 'false', null]);
  return { labels: { [labelKey.externalGateway]: label }, annotations: { [annotationKey.chassis]: `chassis-${name}` } };
}

/** @param name a letter and a number, from which its address follows */
export function drawnNode(name: string): DrawnSpec {
  const address = `172.18.0.${2 + Number(name.slice(1))}`;
  return { metadata: { name, labels: { zone: name } }, spec: {}, status: { addresses: [{ type: 'InternalIP', address }] } };
}
