/**
 * The chassis of a node, as its agent reports it: what ovn-controller registers in the Southbound database, which need not be reached from here. A node
 * whose packages run Open vSwitch may have a chassis of any name.
 */
import { annotationKey } from '../../api/well-known.ts';
import { findingOf } from '../../api/validation/finding.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { type IneffectiveCheck, ofAnnotations } from '../ineffective-check.ts';

/** Empty until the agent has written it. */
export const nodeChassis: Query<string> = defineQuery('node-chassis', (world, node) => {
  const { annotations = {} } = world.nodes.get(node)?.metadata ?? {};
  return annotations[annotationKey.chassis] ?? '';
});

/** For `requested-chassis`. A node without an agent has, as with Kube-OVN, a chassis or a host of its own name. */
export const requestedChassis: Query<string> = defineQuery('requested-chassis', (world, node) => world.ask(nodeChassis, node) || node);

const unread = ofAnnotations('nodes');

/** Of two nodes with one chassis OVN has the tunnels of one alone, now of this, now of that: pods of the other are not reached. */
export const nodeFindings: IneffectiveCheck = {
  resource: 'nodes',
  may: ({ metadata }: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }) =>
    metadata.annotations?.[annotationKey.chassis] !== undefined || unread.may({ metadata } as never),
  findings: defineQuery('nodes-findings', (world, name) => {
    const chassis = world.ask(nodeChassis, name);
    const others = chassis === '' ? [] : [...world.nodes.bucket('chassis', chassis)].filter((node) => node !== name).toSorted();
    if (others.length === 0) return world.ask(unread.findings, name);
    const breach = {
      code: 'ChassisConflict',
      field: `metadata.annotations[${annotationKey.chassis}]`,
      value: chassis,
      problem: `is the chassis of Node ${others.join(', ')} as well: two hosts have one system-id, and OVN reaches the pods of one of them alone`,
      rule: 'each node has a system-id of its own: on the one that was copied ovs-vsctl set open_vswitch . external_ids:system-id=NAME, then restart ovn-controller',
    } as const;
    return [findingOf({ kind: 'Node', name }, breach), ...world.ask(unread.findings, name)];
  }),
};
