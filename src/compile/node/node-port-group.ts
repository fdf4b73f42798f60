/** The port group of all pods of the default Vpc on one node. The rule of each pod adds the pod's port. */
import { nodePortGroup } from '../../api/names.ts';
import { rowId } from '../../nb/row-id.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { nodeOwner, nodeView } from './node-view.ts';

const RULE = 'node-port-group';

export const nodePortGroups: Rule = {
  name: RULE,
  over: (world) => keysOf(world.nodes),
  run: (world, name) => {
    const node = world.ask(nodeView, name);
    if (node === undefined) return [];
    const group = nodePortGroup(name);
    return [
      {
        kind: 'row',
        id: rowId('Port_Group', group),
        owner: nodeOwner(node),
        rule: RULE,
        columns: { name: group },
        externalIds: { node: name, np: `node/${name}` },
      },
    ];
  },
};
