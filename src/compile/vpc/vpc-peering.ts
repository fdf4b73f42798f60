/** The router ports that link a Vpc to its peers. The peer emits the other end: the link works if both Vpcs name each other. */
import type { VpcPeering } from '../../api/kinds/vpc.ts';
import { peerPort } from '../../api/names.ts';
import { formatAddress } from '../../net/address.ts';
import { parseInterfaceAddress } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import { commandText } from '../../text/command-text.ts';
import type { Rule } from '../rule.ts';
import { rowMac, macExternalId } from '../row-mac.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { ConditionOutput } from '../output.ts';
import { mayLink } from '../port-link.ts';
import { hiddenPeering } from './hidden-routes.ts';
import { linkProblem } from './peering-ends.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { emittedVpc, vpcFindings } from './vpc-state.ts';
import { vpcOwner, routerId, vpcSpec, vpcView } from './vpc-view.ts';

const RULE = 'vpc-peering';

export const vpcPeering: Rule = vpcRowsRule(RULE, ({ world, name, view, spec, isFaulty }) =>
  (spec.vpcPeerings ?? []).flatMap(({ remoteVpc = '', localConnectIP = '' }, i) => {
    if (isFaulty(`spec.vpcPeerings[${i}]`)) return [];
    const port = peerPort(name, remoteVpc);
    const id = rowId('Logical_Router_Port', port);
    const peer = peerPort(remoteVpc, name);
    const named = isUnkeyedEnd(world, id, view.router, peer);
    const mac = rowMac(world, id, 'mac', undefined, named);
    const owner = vpcOwner(view);
    const other = { kind: 'vpc', namespace: '', name: remoteVpc };
    const isLinked = (): boolean => world.rows.column(id, 'peer') === peer;
    return [
      {
        kind: 'row',
        id,
        owner,
        rule: RULE,
        ...(named && { named: true }),
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

/** An end as Kube-OVN before 1.12 makes it: without any key, in a router that is not foreign, and with the other end as peer. */
function isUnkeyedEnd(world: World, id: RowId, router: string, peer: string): boolean {
  const { ownership, parent } = world.rows.state(id) ?? {};
  if (ownership?.kind !== 'foreign' || parent === undefined || world.rows.column(id, 'peer') !== peer) return false;
  const keys = world.rows.column(id, 'external_ids');
  const home = world.rows.byUuid(parent.uuid);
  return keys instanceof Map && keys.size === 0 && home?.id === routerId(router) && home.ownership.kind !== 'foreign';
}

interface End {
  readonly localConnectIP: string;
  /** Path of an invalid field of its item: the Vpc has no such port. */
  readonly invalid: string | undefined;
}

/** The peers that a Vpc names, each with the Vpc's own end of the link. A map, since a Vpc may name very many. */
const peersOf: Query<ReadonlyMap<string, End>> = defineQuery('vpc-peers', (world, vpc) => {
  const { vpcPeerings = [] } = world.ask(vpcSpec, vpc) ?? {};
  const findings = vpcPeerings.length === 0 ? [] : world.ask(vpcFindings, vpc);
  const ends = new Map<string, End>();
  for (const [i, { remoteVpc = '', localConnectIP = '' }] of vpcPeerings.entries()) {
    // Of two items with one Vpc the first is in effect.
    if (ends.has(remoteVpc)) continue;
    const invalid = findings.find(({ field }) => field.startsWith(`spec.vpcPeerings[${i}].`))?.field;
    ends.set(remoteVpc, { localConnectIP, invalid });
  }
  return ends;
});

/** `localConnectIP` of `remote` in its peering with `name`; undefined if it has no such port. */
export function remoteEnd(world: World, name: string, remote: string): string | undefined {
  const end = world.ask(peersOf, remote).get(name);
  return end === undefined || end.invalid !== undefined || emittedVpc(world, remote) === undefined ? undefined : end.localConnectIP;
}

/** Whether packets pass over each peering of the Vpc; no condition for a Vpc without peerings. */
export function peeringCondition(world: World, name: string): readonly ConditionOutput[] {
  const peerings = world.ask(vpcSpec, name)?.vpcPeerings ?? [];
  if (peerings.length === 0) return [];
  const missing = firstOf(peerings, ({ remoteVpc = '' }, i) => {
    if (remoteVpc === '' || remoteVpc === name) return undefined;
    const what = whyMissing(world, name, remoteVpc);
    if (what === undefined) return undefined;
    return `Vpc ${name}: spec.vpcPeerings[${i}].remoteVpc "${remoteVpc}": Vpc ${remoteVpc} ${what}; a peering works when both sides name each other`;
  });
  if (missing !== undefined) return [{ type: 'Peered', status: 'False', reason: 'PeerMissing', message: missing, event: 'Warning' }];
  const faulty = world.ask(vpcFindings, name).find(({ code }) => code === 'VpcPeeringInvalid');
  // Condition Accepted has the Event.
  if (faulty !== undefined) {
    const message = `Vpc ${name}: ${faulty.field} is wrong, so this peering is left out: see condition Accepted`;
    return [{ type: 'Peered', status: 'False', reason: 'VpcPeeringInvalid', message }];
  }
  for (const problem of [oppositeInvalid, mismatch, portConflict, hidden]) {
    const found = firstOf(peerings, (peering, i) => problem(world, name, peering, i));
    if (found !== undefined) return [{ type: 'Peered', status: 'False', ...found, event: 'Warning' }];
  }
  return [{ type: 'Peered', status: 'True', reason: 'Peered', message: '' }];
}

function firstOf<T>(peerings: readonly VpcPeering[], problem: (peering: VpcPeering, i: number) => T | undefined): T | undefined {
  for (const [i, peering] of peerings.entries()) {
    const found = problem(peering, i);
    if (found !== undefined) return found;
  }
  return undefined;
}

function whyMissing(world: World, name: string, remote: string): string | undefined {
  if (world.ask(vpcView, remote) === undefined) return 'does not exist';
  if (!world.ask(peersOf, remote).has(name)) return `does not name Vpc ${name} in its spec.vpcPeerings`;
  return emittedVpc(world, remote) === undefined ? commandText`has no router of Kiln (kubectl describe vpc ${remote})` : undefined;
}

type Problem = Pick<ConditionOutput, 'reason' | 'message'>;

/** The remote Vpc leaves its end out. */
function oppositeInvalid(world: World, name: string, { remoteVpc = '' }: VpcPeering, i: number): Problem | undefined {
  const invalid = world.ask(peersOf, remoteVpc).get(name)?.invalid;
  if (invalid === undefined) return undefined;
  const why = `${invalid} of Vpc ${remoteVpc} is invalid, so the other end is left out; ${commandText`kubectl edit vpc ${remoteVpc}`}`;
  return { reason: 'VpcPeeringInvalid', message: `Vpc ${name}: spec.vpcPeerings[${i}].remoteVpc "${remoteVpc}": ${why}` };
}

function mismatch(world: World, name: string, { remoteVpc = '', localConnectIP = '' }: VpcPeering, i: number): Problem | undefined {
  const problem = linkProblem(localConnectIP, world.ask(peersOf, remoteVpc).get(name)?.localConnectIP ?? '');
  if (problem === undefined) return undefined;
  const rule = `both ends of a peering have different addresses in one network, such as 169.254.0.1/30 and 169.254.0.2/30; Vpc ${remoteVpc} is the other end`;
  const message = `Vpc ${name}: spec.vpcPeerings[${i}].localConnectIP "${localConnectIP}" ${problem}; ${rule}`;
  return { reason: 'PeeringMismatch', message };
}

/** Nothing that a pod sends gets to this end. */
function hidden(world: World, name: string, { remoteVpc = '' }: VpcPeering, i: number): Problem | undefined {
  const why = hiddenPeering(world, name, i, remoteEnd(world, name, remoteVpc) ?? '');
  return why === undefined
    ? undefined
    : { reason: 'RouteHidden', message: `Vpc ${name}: spec.vpcPeerings[${i}].remoteVpc "${remoteVpc}": ${why}` };
}

/** A router port of another program has the name of an end. */
function portConflict(world: World, name: string, { remoteVpc = '' }: VpcPeering, i: number): Problem | undefined {
  for (const [vpc, other] of [
    [name, remoteVpc],
    [remoteVpc, name],
  ] as const) {
    const port = peerPort(vpc, other);
    const far = rowId('Logical_Router_Port', peerPort(other, vpc));
    const isLinked = (): boolean => world.rows.column(far, 'peer') === port;
    if (mayLink(world, rowId('Logical_Router_Port', port), { kind: 'vpc', namespace: '', name: vpc }, isLinked)) continue;
    const why = commandText`router port ${port} belongs to another program or object, so Vpc ${vpc} has no end; ovn-nbctl list Logical_Router_Port ${port}`;
    return { reason: 'RowConflict', message: `Vpc ${name}: spec.vpcPeerings[${i}].remoteVpc "${remoteVpc}": ${why}` };
  }
  return undefined;
}

function networkText(text: string): string[] {
  const parsed = parseInterfaceAddress(text);
  return parsed === undefined ? [] : [`${formatAddress(parsed.address)}/${parsed.cidr.prefix}`];
}
