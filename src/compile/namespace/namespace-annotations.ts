/**
 * What a Namespace says of the Subnets its pods use: Kube-OVN's annotations, written for people and agents. Nothing is decided by
 * them. Its lists run in step: the n-th network is the n-th Subnet's.
 */
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../api/well-known.ts';
import { keysOf } from '../../world/domain.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import { namespaceBinding } from './namespace-binding.ts';
import { subnetSpec, subnetView } from '../subnet/subnet-view.ts';

const KEYS = {
  subnets: podAnnotation(DEFAULT_PROVIDER, 'logical_switch'),
  cidrs: podAnnotation(DEFAULT_PROVIDER, 'cidr'),
  excludeIps: annotationKey.excludeIps,
  pools: podAnnotation(DEFAULT_PROVIDER, 'ip_pool'),
} as const;

export const namespaceAnnotations: Rule = {
  name: 'namespace-annotations',
  over: (world) => keysOf(world.namespaces, ({ metadata }) => metadata.deletionTimestamp === undefined),
  run: (world, name) => {
    const uid = world.ask(namespaceUid, name);
    if (uid === undefined) return [];
    const binding = world.ask(namespaceBinding, name);
    const subnets = binding.subnets.flatMap((subnet) => subnetText(world, subnet) ?? []);
    const list = (texts: readonly string[], separator: string): string | null => (texts.length === 0 ? null : texts.join(separator));
    return [
      {
        kind: 'patch',
        resource: 'namespaces',
        key: name,
        uid,
        annotations: {
          [KEYS.subnets]: list(
            subnets.map((subnet) => subnet.name),
            ',',
          ),
          [KEYS.cidrs]: list(
            subnets.map((subnet) => subnet.cidr),
            ';',
          ),
          [KEYS.excludeIps]: list(
            subnets.map((subnet) => subnet.excludeIps),
            ';',
          ),
          [KEYS.pools]: list(binding.pools, ','),
        },
      },
    ];
  },
};

const namespaceUid: Query<string | undefined> = defineQuery('namespace-uid', (world, name) => world.namespaces.get(name)?.metadata.uid);

function subnetText(world: World, name: string): { readonly name: string; readonly cidr: string; readonly excludeIps: string } | undefined {
  const view = world.ask(subnetView, name);
  if (view === undefined) return undefined;
  return { name, cidr: view.cidr, excludeIps: (world.ask(subnetSpec, name)?.excludeIps ?? []).join(',') };
}
