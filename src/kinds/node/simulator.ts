import type { DrawnKind, DrawnSpec } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 3,
  names: NAMES.nodes,
  object: (draws) => drawnNode(draws.pick(NAMES.nodes)),
  patch: (draws) => ({ patch: { metadata: { labels: { zone: draws.pick(['x', 'y']) } } } }),
};

/** @param name a letter and a number, from which its address follows */
export function drawnNode(name: string): DrawnSpec {
  const address = `172.18.0.${2 + Number(name.slice(1))}`;
  return { metadata: { name, labels: { zone: name } }, spec: {}, status: { addresses: [{ type: 'InternalIP', address }] } };
}
