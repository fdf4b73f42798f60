/**
 * What of a Vpc matters to its Subnets and their ports. Rules about children read this, never the object: its status changes
 * with each of its Subnets.
 */
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
import type { Claimant } from '../output.ts';

export interface VpcView {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  readonly isDefault: boolean;
  /** It mirrors a router that somebody else made and Kiln leaves alone. */
  readonly external: boolean;
  /** Name of its Logical_Router. */
  readonly router: string;
  /** Subnet of pods that name none; empty for none. Of the default Vpc it is the cluster's default Subnet. */
  readonly defaultSubnet: string;
}

/** Undefined where there is no Vpc of that name. */
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

/** Whether its router is in the database, its own by this Vpc's uid (or, of an external Vpc, anybody's). */
export function isStandby(world: World, view: VpcView): boolean {
  const router = routerId(view.router);
  return view.external ? world.rows.state(router) !== undefined : isOurs(world, router, claimantOfVpc(view));
}

/** The spec alone. */
export const vpcSpec: Query<Vpc['spec'] | undefined> = defineQuery('vpc-spec', (world, name) => world.ask(vpcIntent, name)?.spec);

export function isExternal(vpc: VpcIntent): boolean {
  return vpc.metadata.labels?.[labelKey.vpcExternal] === 'true';
}

export function routerId(router: string): RowId {
  return rowId('Logical_Router', router);
}

/** The Vpc as the owner of its rows. */
export function claimantOfVpc(view: VpcView): Claimant {
  return { kind: 'vpc', namespace: '', name: view.name, uid: view.uid, created: view.created };
}

/** Whether a row is observed and belongs to exactly this object in this incarnation. */
export function isOurs(world: World, id: RowId, owner: Owner): boolean {
  const ownership = world.rows.state(id)?.ownership;
  return ownership?.kind === 'ours' && ownership.owner === ownerText(owner) && ownership.uid === owner.uid;
}
