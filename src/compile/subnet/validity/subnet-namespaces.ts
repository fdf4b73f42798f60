/** Namespaces that a Subnet lists and its Vpc does not: the Subnet does not serve them, all else of its spec is in effect. */
import type { Finding } from '../../../api/validation/finding.ts';
import { namespacesNotOfVpc } from '../../../api/validation/subnet-conflicts.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import { splitList } from '../../../net/dual.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { subnetBasics } from './subnet-basics.ts';

const NONE: readonly Finding[] = [];

/**
 * One finding for each such namespace, which is its value. A namespace that the Subnet's annotation admits has no finding: an administrator
 * chose it.
 */
export const namespacesOutsideVpc: Query<readonly Finding[]> = defineQuery('subnet-namespaces-outside-vpc', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  const listed = subnet?.spec.namespaces ?? [];
  const basics = listed.length === 0 ? undefined : world.ask(subnetBasics, name);
  if (basics?.isOvn !== true || basics.inDefaultVpc) return NONE;
  const namespaces = world.ask(vpcIntent, basics.vpc)?.spec.namespaces ?? [];
  const admitted = splitList(subnet?.metadata.annotations?.[kilnAnnotation.admitNamespaces] ?? '');
  return namespacesNotOfVpc(name, basics.vpc, listed, { namespaces, admitted });
});
