/** Nodes with the same port groups: names of port groups have no `-`, so `a-b` and `a.b` give the same one. */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { groupName } from '../../api/names.ts';
import type { World } from '../../world/world.ts';
import type { NodeView } from './node-view.ts';
import { nodeView, olderFirst } from './node-view.ts';

/** Undefined if no other node has such a name. */
export function groupNameTaken(world: World, { name }: NodeView): Finding | undefined {
  const alike = [...world.nodes.bucket('group', groupName(name))].flatMap((one) => world.ask(nodeView, one) ?? []).toSorted(olderFirst);
  const [first, second] = alike;
  if (first === undefined || second === undefined) return undefined;
  const others = alike.filter((one) => one.name !== name).map((one) => one.name);
  return findingOf(
    { kind: 'Node', name },
    {
      code: 'NodeNameTaken',
      field: 'metadata.name',
      value: name,
      problem: `has the same port groups in OVN as node ${others.join(', ')}`,
      rule:
        'Kiln writes "-" as "." in their names, and all pods of a group leave through one node: ' +
        'add one of these nodes under another name',
    },
  );
}
