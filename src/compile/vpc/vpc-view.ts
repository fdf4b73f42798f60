/** The projection of a Vpc that rules of its Subnets and ports read: the status of the object changes with each of its Subnets. */
import { labelKey } from '../../api/well-known.ts';
import { isTerminating } from '../../api/kubernetes/meta.ts';
import type { Vpc } from '../../api/kinds/vpc.ts';
import type { Owner } from '../../nb/ownership.ts';
import { ownerText } from '../../nb/ownership.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { VpcIntent } from '../../world/intent.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { RowOwner } from '../output.ts';

export interface VpcView {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  readonly isDefault: boolean;
  /** It mirrors a foreign router, which Kiln does not change. */
  readonly external: boolean;
  /** Name of its Logical_Router. */
  readonly router: string;
  /** Subnet for pods that name none; empty for none. For the default Vpc the cluster's default Subnet. */
  readonly defaultSubnet: string;
}

/** Undefined if no Vpc has that name. */
export const vpcView: Query<VpcView | undefined> = defineQuery('vpc-view', (world, name) => {
  const vpc = world.ask(vpcIntent, name);
  if (vpc === undefined) return undefined;
  const isDefault = name === world.settings.defaultVpc;
  return {
    name,
    uid: vpc.metadata.uid,
    created: vpc.metadata.creationTimestamp,
    terminating: isTerminating(vpc),
    isDefault,
    external: isExternal(vpc),
    router: name,
    defaultSubnet: isDefault ? world.settings.defaultSubnet : (vpc.spec.defaultSubnet ?? ''),
  };
});

/**
 * Whether its router exists, with this Vpc's uid; for an external Vpc, with any owner.
 * @param isEmitted rules emit its rows, so that a legacy router is adopted
 */
export function isStandby(world: World, view: VpcView, isEmitted: boolean): boolean {
  const router = routerId(view.router);
  if (view.external) return world.rows.state(router) !== undefined;
  return (isEmitted ? isOursOnceAdopted : isOurs)(world, router, vpcOwner(view));
}

/** The spec. */
export const vpcSpec: Query<Vpc['spec'] | undefined> = defineQuery('vpc-spec', (world, name) => world.ask(vpcIntent, name)?.spec);

export function isExternal(vpc: VpcIntent): boolean {
  return vpc.metadata.labels?.[labelKey.vpcExternal] === 'true';
}

export function routerId(router: string): RowId {
  return rowId('Logical_Router', router);
}

/** The Vpc as row owner. */
export function vpcOwner(view: VpcView): RowOwner {
  return { kind: 'vpc', namespace: '', name: view.name, uid: view.uid, created: view.created };
}

/** The same, or the row is legacy. A legacy row that a rule emits for the object is about to be adopted, and its network runs meanwhile. */
export function isOursOnceAdopted(world: World, id: RowId, owner: Owner): boolean {
  return isOurs(world, id, owner) || world.rows.state(id)?.ownership.kind === 'legacy';
}

/** Whether a row exists and its owner is this object, with this uid. */
export function isOurs(world: World, id: RowId, owner: Owner): boolean {
  const ownership = world.rows.state(id)?.ownership;
  return ownership?.kind === 'ours' && ownership.owner === ownerText(owner) && ownership.uid === owner.uid;
}
