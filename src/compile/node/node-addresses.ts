/**
 * Reports invalid InternalIPs of a node, InternalIPs that another node has too, and a name with the port groups of another node. The
 * condition is in an annotation, since the kubelet owns the conditions in the status.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { addressProblem, canonicalAddress } from '../../net/address.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { findingsText } from '../findings-text.ts';
import { groupNameTaken } from './node-group-name.ts';
import { joinAddresses } from './node-join.ts';
import type { NodeView } from './node-view.ts';
import { nodeView, olderFirst } from './node-view.ts';
import { commandText } from '../../text/command-text.ts';

export const nodeAddresses: Rule = {
  name: 'node-addresses',
  over: (world) => keysOf(world.nodes),
  run: (world, name) => {
    const uid = world.ask(nodeView, name)?.uid;
    if (uid === undefined) return [];
    const findings = world.ask(addressFindings, name);
    const patch = { kind: 'patch', resource: 'nodes', key: name, uid } as const;
    const [first] = findings;
    if (first === undefined) return [{ ...patch, withoutConditions: ['Accepted'] }];
    const message = `${findingsText(findings)}; ${commandText`kubectl describe node ${name}`}`;
    return [{ ...patch, conditions: [{ type: 'Accepted', status: 'False', reason: first.code, message, event: 'Warning' }] }];
  },
};

const addressFindings: Query<readonly Finding[]> = defineQuery('node-address-findings', (world, name) => {
  const node = world.ask(nodeView, name);
  if (node === undefined) return [];
  const subject = { kind: 'Node', name };
  const unreadable = node.unreadableIps.map(({ index, address }) =>
    findingOf(subject, {
      code: 'NodeAddressInvalid',
      field: `status.addresses[${index}].address`,
      value: address,
      problem: addressProblem(address) ?? 'is no address',
      rule: 'an InternalIP is one IPv4 or IPv6 address; without one pods do not reach the node',
    }),
  );
  const shared = [...new Set(node.internalIps)].flatMap((address) => {
    const nodes = nodesWith(world, address);
    const [first = name] = nodes;
    if (nodes.length < 2) return [];
    const others = nodes.filter((other) => other !== name).join(', ');
    return [
      findingOf(subject, {
        code: 'NodeAddressTaken',
        field: 'status.addresses of type InternalIP',
        value: address,
        problem: `is also that of node ${others}`,
        rule: `only one node can have an address: traffic of pods to it goes to the oldest of them, ${first}`,
      }),
    ];
  });
  return [...unreadable, ...shared, ...[groupNameTaken(world, node)].filter((one) => one !== undefined)];
});

/** Names of the nodes with this InternalIP, the oldest first. */
function nodesWith(world: World, address: string): readonly string[] {
  return [...world.nodes.bucket('internalIp', canonicalAddress(address) ?? address)]
    .flatMap((name) => world.ask(nodeView, name) ?? [])
    .toSorted(olderFirst)
    .map(({ name }) => name);
}

/** Whether an older node on the network has the address: then traffic to the address goes to that node. */
export function isOfOlderNode(world: World, { name }: NodeView, address: string): boolean {
  const nodes = nodesWith(world, address);
  return nodes.slice(0, nodes.indexOf(name)).some((other) => {
    const view = world.ask(nodeView, other);
    return view !== undefined && joinAddresses(world, view) !== undefined;
  });
}
