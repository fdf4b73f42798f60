/** A row that an object needs and cannot have: a foreign row has its name, an older object claims it, or OVSDB answered with an error. */
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import { keysOf } from '../world/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { subnetIntent, vpcIntent } from '../world/intent.ts';
import type { RowConflict, World } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { ReportOutput } from './output.ts';

const NO_CONFLICT: RowConflict = { owners: [], message: '' };

/** The message of the first conflict of an owner; undefined for none. */
export function rowConflictOf(world: World, owner: Owner): string | undefined {
  const [first, ...others] = world.rowConflicts.select('owner', ownerText(owner));
  if (first === undefined) return undefined;
  return others.length === 0 ? first.message : `${first.message} (and ${others.length} more ${others.length === 1 ? 'row' : 'rows'})`;
}

/** Kinds of owners that get an Event for each conflict. Their condition that names the row emits no Event, which would repeat it. */
const REPORTED_BY_EVENT: Readonly<Record<string, ResourceName>> = { ippool: 'ippools', node: 'nodes', vpc: 'vpcs', subnet: 'subnets' };

export const rowConflictReport: Rule = {
  name: 'row-conflict',
  over: (world) => keysOf(world.rowConflicts),
  run: (world, id) => {
    const { owners, message } = world.rowConflicts.get(id) ?? NO_CONFLICT;
    return owners.flatMap((owner): readonly ReportOutput[] => {
      const [kind = '', , ...rest] = owner.split('/');
      const key = rest.join('/');
      const resource = REPORTED_BY_EVENT[kind];
      const uid = resource === undefined ? undefined : uidOf(world, resource, key);
      if (resource === undefined || uid === undefined) return [];
      return [{ kind: 'report', resource, key, uid, type: 'Warning', reason: 'Conflict', message }];
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
