/**
 * A Subnet or a Vpc without its status: what users write, and the identity of the object. The status changes with every pod; a rule that
 * reads the intent does not run again for that.
 */
import { appliedFields } from '../api/kubernetes/applied-fields.ts';
import type { KubeObject, ObjectMeta } from '../api/kubernetes/meta.ts';
import type { Subnet } from '../api/kinds/subnet.ts';
import type { Vpc } from '../api/kinds/vpc.ts';
import type { Query } from './world.ts';
import { defineQuery } from './world.ts';

export interface Intent<Spec> {
  readonly metadata: Pick<ObjectMeta, 'name' | 'uid' | 'creationTimestamp' | 'deletionTimestamp' | 'labels' | 'annotations'>;
  readonly spec: Spec;
}

export interface SubnetIntent extends Intent<Subnet['spec']> {
  /** Fields of the spec that a client owns by server-side apply. */
  readonly applied?: readonly string[];
}
export type VpcIntent = Intent<Vpc['spec']>;

/** Undefined if no Subnet has that name. */
export const subnetIntent: Query<SubnetIntent | undefined> = defineQuery('subnet-intent', (world, name) => {
  const subnet = world.subnets.get(name);
  if (subnet === undefined) return undefined;
  const applied = appliedFields(subnet.metadata.managedFields);
  return { ...intentOf(subnet), ...(applied.length > 0 && { applied }) };
});

/** Undefined if no Vpc has that name. */
export const vpcIntent: Query<VpcIntent | undefined> = defineQuery('vpc-intent', (world, name) => {
  const vpc = world.vpcs.get(name);
  return vpc === undefined ? undefined : intentOf(vpc);
});

function intentOf<Spec>({ metadata, spec }: KubeObject<Spec, unknown>): Intent<Spec> {
  const { name, uid, creationTimestamp, deletionTimestamp, labels, annotations } = metadata;
  return {
    metadata: {
      name,
      uid,
      creationTimestamp,
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
    },
    spec,
  };
}
