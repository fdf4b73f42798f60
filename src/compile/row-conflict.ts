/**
 * A row that an object wants and cannot have: somebody else's row has its name, an older object claims it, or OVN refused it.
 */
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import { keysOf } from '../world/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { subnetIntent, vpcIntent } from '../world/intent.ts';
import type { RowConflict, World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { NoticeOutput } from './output.ts';

const NO_CONFLICT: RowConflict = { owners: [], message: '' };

/** The sentence about the first of them; undefined where there is none. */
export function rowConflictOf(world: World, owner: Owner): string | undefined {
  const [first, ...others] = world.rowConflicts.select('owner', ownerText(owner));
  if (first === undefined) return undefined;
  return others.length === 0 ? first.message : `${first.message} (and ${others.length} more ${others.length === 1 ? 'row' : 'rows'})`;
}

/** Owners whose rows are told of by an Event, one for each row. A condition that names a row has no Event of its own: it would say the same. */
const TOLD_BY_EVENT: Readonly<Record<string, ResourceName>> = { ippool: 'ippools', node: 'nodes', vpc: 'vpcs', subnet: 'subnets' };

export const rowConflictNotice: Rule = {
  name: 'row-conflict',
  over: (world) => keysOf(world.rowConflicts),
  run: (world, id) => {
    const { owners, message } = world.rowConflicts.get(id) ?? NO_CONFLICT;
    return owners.flatMap((owner): readonly NoticeOutput[] => {
      const [kind = '', , ...rest] = owner.split('/');
      const key = rest.join('/');
      const resource = TOLD_BY_EVENT[kind];
      const uid = resource === undefined ? undefined : uidOf(world, resource, key);
      if (resource === undefined || uid === undefined) return [];
      return [{ kind: 'notice', resource, key, uid, type: 'Warning', reason: 'Conflict', message }];
    });
  },
};

function uidOf(world: World, resource: ResourceName, key: string): string | undefined {
  switch (resource) {
    case 'vpcs':
      return world.ask(vpcIntent, key)?.metadata.uid;
    case 'subnets':
      return world.ask(subnetIntent, key)?.metadata.uid;
    case 'ippools':
      return world.ipPools.get(key)?.metadata.uid;
    case 'nodes':
      return world.nodes.get(key)?.metadata.uid;
    default:
      return undefined;
  }
}
