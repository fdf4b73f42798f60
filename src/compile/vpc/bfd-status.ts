/** What a Vpc says of BFD: the condition, and what of its spec needs it and does not get it. */
import type { ConditionOutput } from '../output.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { commandText } from '../../text/command-text.ts';
import { requestedExternals } from '../../world/external-subnets.ts';
import type { World } from '../../world/world.ts';
import { requestedBfdPort } from './bfd-port.ts';
import { bfdSessions, bfdStates, ecmpPeers, hasEcmpSubnet, hasSessions, routeSessions } from './bfd-sessions.ts';
import { vpcSpec } from './vpc-view.ts';
import type { VpcView } from './vpc-view.ts';

/** No condition for a Vpc that requests no BFD. */
export function bfdCondition(world: World, view: VpcView): readonly ConditionOutput[] {
  const { name } = view;
  const spec = world.ask(vpcSpec, name);
  if (spec?.enableBfd !== true) return [];
  const edit = commandText`kubectl edit vpc ${name}`;
  const bad = { type: 'Bfd', status: 'False' } as const;
  if (world.ask(requestedExternals, name).length === 0)
    return [
      {
        ...bad,
        ...({ reason: 'BfdWithoutExternal', event: 'Warning' } as const),
        message: `Vpc ${name}: spec.enableBfd "true" watches external gateways, and the Vpc has none; set spec.enableExternal; ${edit}`,
      },
    ];
  if (world.ask(hasEcmpSubnet, name) && world.ask(ecmpPeers, name).length === 0)
    return [
      {
        ...bad,
        ...({ reason: 'BfdPeersMissing', event: 'Warning' } as const),
        message: `Vpc ${name}: its Subnets with spec.enableEcmp share their traffic over gateway nodes, and fewer than two are ready: each is an OvnEip of type lsp in an external Subnet of the Vpc, with status.ready; kubectl get ovn-eips`,
      },
    ];
  if (hasSessions(world, view)) {
    const down = downText(world, name);
    if (down !== undefined) return [{ ...bad, reason: 'BfdDown', message: down }];
    return [{ type: 'Bfd', status: 'True', reason: 'BfdInPlace', message: '' }];
  }
  const number = world.ask(bfdSessions, name).length;
  return [{ ...bad, reason: 'BfdPending', message: `Vpc ${name}: ${number} BFD sessions are requested and not all in place yet` }];
}

/** Most sessions that a message names. */
const NAMED = 5;

/** What OVN says of the sessions that are down; undefined if none is. A session that has just been made is down until the other side answers. */
function downText(world: World, vpc: string): string | undefined {
  const { up, down } = world.ask(bfdStates, vpc);
  if (down.length === 0) return undefined;
  const which = down.slice(0, NAMED).map(({ port, peer }) => `${peer} (port ${port})`);
  const more = down.length > NAMED ? ` and ${down.length - NAMED} more` : '';
  const many = up.length === 0 ? 'all its BFD sessions are down' : `${down.length} of ${up.length + down.length} BFD sessions are down`;
  const effect = up.length === 0 ? 'no route or policy that they watch is in effect' : 'OVN sends nothing to these next hops';
  return `Vpc ${vpc}: ${many}, with ${which.join(', ')}${more}: ${effect}; see that the other side answers BFD, and ${commandText`ovn-nbctl list BFD`}`;
}

/** Fields that need a BFD session, and have none; and a BFD port without a node. */
export function bfdFindings(world: World, { name }: VpcView): readonly Finding[] {
  const spec = world.ask(vpcSpec, name);
  const edit = commandText`kubectl edit vpc ${name}`;
  const subject = { kind: 'Vpc', name };
  const port = world.ask(requestedBfdPort, name);
  const unhosted =
    port === undefined || port.nodes.length > 0
      ? []
      : [
          findingOf(subject, {
            code: 'BfdPortUnhosted',
            field: 'spec.bfdPort.nodeSelector',
            value: JSON.stringify(spec?.bfdPort?.nodeSelector ?? {}),
            problem: 'selects no node with a chassis',
            rule: `a node hosts the port and answers BFD; ${edit}`,
          }),
        ];
  const watched = world.ask(routeSessions, name);
  const routes = (spec?.staticRoutes ?? []).flatMap(({ ecmpMode = '' }, index) => {
    if (ecmpMode === '' || watched[index] !== undefined) return [];
    const [field, value] = [`spec.staticRoutes[${index}].ecmpMode`, ecmpMode];
    const problem =
      spec?.enableBfd === true ? 'has no BFD session: its next hop is in no external Subnet of the Vpc' : 'needs spec.enableBfd';
    const rule = `the route is in effect without it, also while its next hop is down; ${edit}`;
    return [findingOf(subject, { code: 'BfdUnwatched', field, value, problem, rule })];
  });
  return [...unhosted, ...routes];
}
