/** The router ports that link a Vpc to its peers. The peer emits the other end: the link works if both Vpcs name each other. */
import { peerPort } from '../../api/names.ts';
import { formatAddress } from '../../net/address.ts';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import { rowId } from '../../nb/row-id.ts';
import type { Rule } from '../compiler.ts';
import { rowMac, macExternalId } from '../row-mac.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { ConditionOutput } from '../output.ts';
import { mayLink } from '../port-link.ts';
import { linkProblem } from './peering-ends.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcOwner, routerId, vpcSpec, vpcView } from './vpc-view.ts';

const RULE = 'vpc-peering';

export const vpcPeering: Rule = vpcRowsRule(RULE, ({ world, name, view, spec, isFaulty }) =>
  (spec.vpcPeerings ?? []).flatMap(({ remoteVpc = '', localConnectIP = '' }, i) => {
    if (isFaulty(`spec.vpcPeerings[${i}]`)) return [];
    const port = peerPort(name, remoteVpc);
    const id = rowId('Logical_Router_Port', port);
    const mac = rowMac(world, id, 'mac');
    const owner = vpcOwner(view);
    const peer = peerPort(remoteVpc, name);
    const other = { kind: 'vpc', namespace: '', name: remoteVpc };
    const isLinked = (): boolean => world.rows.column(id, 'peer') === peer;
    return [
      {
        kind: 'row',
        id,
        owner,
        rule: RULE,
        parent: { id: routerId(view.router), column: 'ports' },
        columns: {
          name: port,
          mac,
          networks: splitList(localConnectIP).flatMap(networkText),
          options: {},
          peer: mayLink(world, rowId('Logical_Router_Port', peer), other, isLinked) ? peer : [],
        },
        externalIds: { lr: view.router, ...macExternalId(id, mac) },
      },
    ];
  }),
);

/** The peers that a Vpc names, each with the Vpc's own end of the link. A map, since a Vpc may name very many. */
const peersOf: Query<ReadonlyMap<string, string>> = defineQuery(
  'vpc-peers',
  (world, vpc) =>
    new Map(world.ask(vpcSpec, vpc)?.vpcPeerings?.map(({ remoteVpc = '', localConnectIP = '' }) => [remoteVpc, localConnectIP])),
);

/** Whether packets pass over each peering of the Vpc; no condition for a Vpc without peerings. */
export function peeringCondition(world: World, name: string): readonly ConditionOutput[] {
  const peerings = world.ask(vpcSpec, name)?.vpcPeerings ?? [];
  if (peerings.length === 0) return [];
  const oneSided = peerings.flatMap(({ remoteVpc = '' }, i) => {
    if (remoteVpc === '' || remoteVpc === name) return [];
    if (world.ask(peersOf, remoteVpc).has(name)) return [];
    const what = world.ask(vpcView, remoteVpc) === undefined ? 'does not exist' : `does not name Vpc ${name} in its spec.vpcPeerings`;
    return [
      `Vpc ${name}: spec.vpcPeerings[${i}].remoteVpc "${remoteVpc}": Vpc ${remoteVpc} ${what}; a peering works when both sides name each other`,
    ];
  });
  const [first] = oneSided;
  if (first !== undefined) return [{ type: 'Peered', status: 'False', reason: 'PeerMissing', message: first, event: 'Warning' }];
  const faulty = world.ask(vpcFindings, name).find(({ code }) => code === 'VpcPeeringInvalid');
  // Condition Accepted has the Event.
  if (faulty !== undefined) {
    const message = `Vpc ${name}: ${faulty.field} is wrong, so this peering is left out: see condition Accepted`;
    return [{ type: 'Peered', status: 'False', reason: 'VpcPeeringInvalid', message }];
  }
  for (const [i, { remoteVpc = '', localConnectIP = '' }] of peerings.entries()) {
    const problem = linkProblem(localConnectIP, world.ask(peersOf, remoteVpc).get(name) ?? '');
    if (problem === undefined) continue;
    const rule = `both ends of a peering have different addresses in one network, such as 169.254.0.1/30 and 169.254.0.2/30; Vpc ${remoteVpc} is the other end`;
    const message = `Vpc ${name}: spec.vpcPeerings[${i}].localConnectIP "${localConnectIP}" ${problem}; ${rule}`;
    return [{ type: 'Peered', status: 'False', reason: 'PeeringMismatch', message, event: 'Warning' }];
  }
  return [{ type: 'Peered', status: 'True', reason: 'Peered', message: '' }];
}

function networkText(text: string): string[] {
  const parsed = parseInterfaceAddress(text);
  return parsed === undefined ? [] : [`${formatAddress(parsed.address)}/${parsed.cidr.prefix}`];
}
