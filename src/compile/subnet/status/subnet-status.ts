/** Subnet.status: addresses by count and range, conditions, and the rows and the node that serve it. */
import { localnetPort } from '../../../api/names.ts';
import type { Reason } from '../../../api/reasons.ts';
import { dhcpOptionsId } from '../../../nb/tables.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { FamilyUsage } from '../../../world/reservations.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { ConditionOutput, Json, PatchOutput } from '../../output.ts';
import { leftOut } from '../../findings-text.ts';
import { withNext } from '../../next-command.ts';
import { rowConflictOf } from '../../row-conflict.ts';
import { ineffectiveCondition } from '../../ineffective-condition.ts';
import { unknownAddresses } from './external-addresses.ts';
import { gatewayMissing } from './subnet-gateway-missing.ts';
import { centralizedGateway } from '../rows/subnet-gateway.ts';
import type { SubnetProblem } from '../validity/subnet-acceptance.ts';
import { subnetAcceptance } from '../validity/subnet-acceptance.ts';
import { subnetFindings } from '../validity/subnet-findings.ts';
import { subnetIneffective } from './subnet-ineffective.ts';
import { natRulesInEffect } from './nat-rule-status.ts';
import { namespacesOutsideVpc, namespacesSelectedOutsideVpc } from '../validity/subnet-namespaces.ts';
import { mtuInUse } from '../validity/mtu-under-pods.ts';
import { networkInUse } from '../validity/subnet-networks.ts';
import { externalProblem } from '../validity/subnet-ready.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import { isCutOff, localnetId, subnetUnderlay } from '../validity/underlay.ts';
import { interconnectionName } from '../../../kinds/subnet/dependencies/interconnection.ts';
import { isConnected } from '../rows/subnet-interconnection.ts';
import { routerPortId } from '../rows/subnet-switch.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, runsOnceAdopted, subnetNetworks, subnetSpec, subnetView } from '../validity/subnet-view.ts';
import { isOursOnceAdopted, routerId } from '../../vpc/vpc-view.ts';
import { commandText } from '../../../text/command-text.ts';

/** Counts and ranges change with every pod: a rule of their own, so that the other fields are not computed again. */
export const subnetUsageStatus: Rule = {
  name: 'subnet-usage-status',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const usage = world.usage.get(name);
    const view = world.ask(subnetView, name);
    if (view === undefined || usage === undefined) return [];
    const none = world.ask(isCutOff, name);
    return [
      {
        kind: 'patch',
        resource: 'subnets',
        key: name,
        uid: view.uid,
        status: { ...familyStatus('v4', usage.v4, none), ...familyStatus('v6', usage.v6, none) },
      },
    ];
  },
};

/** @param none no address is available at present */
function familyStatus(family: 'v4' | 'v6', usage: FamilyUsage, none: boolean): Readonly<Record<string, Json>> {
  return {
    [`${family}availableIPs`]: none ? 0n : usage.available,
    [`${family}availableIPrange`]: none ? '' : usage.availableRange,
    [`${family}usingIPs`]: usage.using,
    [`${family}usingIPrange`]: usage.usingRange,
  };
}

/** As Kube-OVN leaves it where nothing is wrong. Kube-OVN does not reset it after an error. */
const NO_ERROR: ConditionOutput = { type: 'Error', status: 'Unknown', reason: 'Init', message: 'Not Observed' };

/** A Subnet that is not accepted has no effect at all, which condition Accepted reports. */
const NOTHING_INEFFECTIVE = ineffectiveCondition([], '');

export const subnetStatus: Rule = {
  name: 'subnet-status',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = world.ask(subnetView, name);
    if (view === undefined) return [];
    const patch = { kind: 'patch', resource: 'subnets', key: name, uid: view.uid } as const;
    const acceptance = world.ask(subnetAcceptance, name);
    if (acceptance.kind !== 'accepted') {
      const conflict = acceptance.kind === 'frozen' ? rowConflictOf(world, subnetOwner(view)) : undefined;
      return [{ ...patch, ...NOTHING_INEFFECTIVE, conditions: failed(name, acceptance, conflict) }];
    }
    const gateway = world.ask(centralizedGateway, name);
    const ineffectiveReport = ineffectiveCondition(world.ask(subnetIneffective, name), commandText`kubectl edit subnet ${name}`);
    const carried: PatchOutput = {
      ...patch,
      status: {
        activateGateway: gateway?.nodes.length === 1 ? (gateway.nodes[0] ?? '') : '',
        dhcpV4OptionsUUID: dhcpRow(world, view, 'IPv4'),
        dhcpV6OptionsUUID: dhcpRow(world, view, 'IPv6'),
        natOutgoingPolicyRules: natRulesInEffect(name, world.ask(subnetSpec, name) ?? {}),
      },
      conditions: [
        accepted(world, view),
        { type: 'Validated', status: 'True', reason: 'ValidateLogicalSwitchSuccess', message: '' },
        ready(world, view),
        NO_ERROR,
        ...(ineffectiveReport.conditions ?? []),
      ],
      ...(ineffectiveReport.withoutConditions !== undefined && { withoutConditions: ineffectiveReport.withoutConditions }),
    };
    return [carried];
  },
};

/**
 * Kube-OVN has one reason for every broken rule; condition `Accepted` has the exact one.
 * @param conflict of a row of its running network
 */
function failed(name: string, { reason, code = reason, message: why }: SubnetProblem, conflict: string | undefined): ConditionOutput[] {
  const message = withNext(why, commandText`kubectl edit subnet ${name}`);
  return [
    { type: 'Accepted', status: 'False', reason: code, message },
    { type: 'Validated', status: reason === 'ValidateLogicalSwitchFailed' ? 'False' : 'True', reason, message },
    {
      ...{ type: 'Ready', status: 'False' },
      ...(conflict === undefined ? { reason, message } : { reason: 'RowConflict', message: conflict, event: 'Warning' }),
    },
    { type: 'Error', status: 'True', reason, message, event: 'Warning' },
  ];
}

function accepted(world: World, view: SubnetView): ConditionOutput {
  const inUse = networkInUse(view.name, world.ask(subnetNetworks, view.name)) ?? mtuInUse(world, view.name);
  if (inUse !== undefined) return { type: 'Accepted', status: 'False', reason: inUse.code, message: inUse.message, event: 'Warning' };
  return (
    leftOut('subnet', view.name, [
      ...world.ask(subnetFindings, view.name),
      ...world.ask(namespacesOutsideVpc, view.name),
      ...world.ask(namespacesSelectedOutsideVpc, view.name),
    ]) ?? {
      type: 'Accepted',
      status: 'True',
      reason: 'Accepted',
      message: '',
    }
  );
}

function ready(world: World, view: SubnetView): ConditionOutput {
  const yes = (reason: Reason): ConditionOutput => ({ type: 'Ready', status: 'True', reason, message: '' });
  const no = (reason: Reason, message: string, event?: 'Warning'): ConditionOutput => ({
    type: 'Ready',
    status: 'False',
    reason,
    message,
    ...(event !== undefined && { event }),
  });
  if (view.external) {
    const problem = externalProblem(world, view.name);
    if (problem !== undefined) return no(problem.reason, problem.message);
    return { ...yes('SwitchOfOthers'), message: world.ask(unknownAddresses, view.name) };
  }
  if (!view.isOvn) return yes('SetNonOvnSubnetSuccess');
  const conflict = rowConflictOf(world, subnetOwner(view));
  if (conflict !== undefined) return no('RowConflict', conflict);
  const stolen = view.routed ? foreignRouter(world, view) : undefined;
  if (stolen !== undefined) return no('RowConflict', stolen);
  if (!runsOnceAdopted(world, view.name))
    return no('SwitchPending', `Logical switch ${view.name} does not exist yet, or is not this Subnet's`);
  if (
    view.routed &&
    view.protocol !== 'Mac' &&
    emittedSubnet(world, view.name) !== undefined &&
    !isOursOnceAdopted(world, routerPortId(view), subnetOwner(view))
  ) {
    return no('RouterPortPending', `The router of Vpc ${view.vpc} has no port to Subnet ${view.name} yet`);
  }
  const underlay = world.ask(subnetUnderlay, view.name);
  if (underlay.kind === 'waiting') return no(underlay.reason, withPort(world, view, underlay.message), 'Warning');
  if (underlay.kind === 'connected' && !isOursOnceAdopted(world, localnetId(view.name), subnetOwner(view)))
    return no('LocalnetPending', `Logical switch ${view.name} has no port ${localnetPort(view.name)} of type localnet yet`);
  const connection = isConnected(view) ? world.reservations.get(interconnectionName(view.vpc, view.name)) : undefined;
  if (connection?.kind === 'failed') {
    const next = commandText`kubectl edit subnet ${view.name}`;
    return no(
      connection.code,
      `Subnet ${view.name} has no address that connects it to the overlay: ${connection.message}; ${next}`,
      'Warning',
    );
  }
  if (
    isConnected(view) &&
    emittedSubnet(world, view.name) !== undefined &&
    !isOursOnceAdopted(world, routerPortId(view), subnetOwner(view))
  )
    return no(
      'RouterPortPending',
      `Subnet ${view.name} has no port in the router of Vpc ${view.vpc} yet, which connects it to the overlay`,
    );
  const gateway = world.ask(centralizedGateway, view.name);
  if (gateway?.nodes.length === 0) return no('NoActiveGatewayFound', gatewayMissing(world, view), 'Warning');
  if (gateway !== undefined) return yes('ReconcileCentralizedGatewaySuccess');
  return yes(view.private ? 'SetPrivateLogicalSwitchSuccess' : 'ResetLogicalSwitchAclSuccess');
}

/** Whether its pods are cut off by what the Subnet waits for. */
function withPort(world: World, { name }: SubnetView, message: string): string {
  const runs = world.rows.column(localnetId(name), 'type') === 'localnet';
  return runs ? `${message}. Its running network stays as it is` : message;
}

/** The message if the router of the Subnet's Vpc is foreign: existing rows inside stay, and no more can be added. */
function foreignRouter(world: World, { name, vpc }: SubnetView): string | undefined {
  const router = world.rows.state(routerId(vpc));
  if (router?.ownership.kind !== 'foreign') return undefined;
  return (
    `Subnet ${name}: Logical_Router ${vpc} (row ${router.uuid}) of its Vpc ${vpc} belongs to another program, so that ports, routes and ` +
    `gateways of the Subnet cannot be added; ${commandText`kiln explain vpc ${vpc}`}`
  );
}

function dhcpRow(world: World, view: SubnetView, protocol: 'IPv4' | 'IPv6'): string {
  const id = dhcpOptionsId(view.name, protocol);
  return isOursOnceAdopted(world, id, subnetOwner(view)) ? (world.rows.state(id)?.uuid ?? '') : '';
}
