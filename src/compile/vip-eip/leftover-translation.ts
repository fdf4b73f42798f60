/**
 * The object for which Kube-OVN translates addresses with a leftover row: an OvnFip or OvnSnatRule, found by its status, or a pod, found by
 * its annotations. Neither the row nor its keys name the object, and the next holder of the address must not inherit the row.
 */
import type { Pod } from '../../api/kubernetes/core.ts';
import { annotationKey } from '../../api/well-known.ts';
import type { RowId } from '../../nb/row-id.ts';
import { tableOf } from '../../nb/row-id.ts';
import { translationsOf } from '../../world/nat-rules.ts';
import type { World } from '../../world/world.ts';
import type { RowOwner } from '../output.ts';
import { isFinished } from '../pod/view/pod-life.ts';

/** Kinds of these objects, in lower case. */
export const TRANSLATED: ReadonlySet<string> = new Set(['pod', 'ovnfip', 'ovnsnatrule']);

/** The owner of such a row; undefined if no such object exists. */
export function translatedFor(world: World, id: RowId): RowOwner | undefined {
  const column = (name: string): string => String(world.rows.column(id, name) ?? '');
  switch (tableOf(id)) {
    case 'NAT':
      return (
        ruleFor(world, column('external_ip'), column('logical_ip')) ??
        podFor(world, column('logical_ip'), (annotations) =>
          [annotations[annotationKey.podEip], annotations[annotationKey.podSnat]].includes(column('external_ip')),
        )
      );
    case 'Logical_Router_Static_Route':
      return column('policy') === 'src-ip' ? podFor(world, column('ip_prefix')) : undefined;
    case 'Logical_Router_Policy':
      return podFor(world, SOURCE.exec(column('match'))?.[1] ?? '');
    default:
      return undefined;
  }
}

const SOURCE = /^ip[46]\.src == ([0-9a-f.:]+)$/;

function ruleFor(world: World, external: string, inner: string): RowOwner | undefined {
  for (const [resource, kind] of [
    ['ovn-fips', 'ovnfip'],
    ['ovn-snat-rules', 'ovnsnatrule'],
  ] as const)
    for (const name of [...world.natRules[resource].bucket('translates', inner)].toSorted()) {
      const rule = world.natRules[resource].get(name);
      if (rule !== undefined && translationsOf(rule).some(([one, other]) => one === external && other === inner))
        return { kind, namespace: '', name, uid: rule.metadata.uid, created: '' };
    }
  return undefined;
}

function podFor(
  world: World,
  address: string,
  suits: (annotations: Readonly<Record<string, string>>) => boolean = () => true,
): RowOwner | undefined {
  for (const key of [...world.pods.bucket('translates', address)].toSorted()) {
    const pod = world.pods.get(key);
    if (pod !== undefined && !isFinished(pod) && suits(pod.metadata.annotations ?? {})) return ownerOf(pod);
  }
  return undefined;
}

function ownerOf({ metadata: { namespace = '', name, uid } }: Pod): RowOwner {
  return { kind: 'pod', namespace, name, uid, created: '' };
}
