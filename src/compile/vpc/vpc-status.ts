/** Vpc.status: whether its router is in place, and the names of its parts. */
import type { Finding } from '../../api/validation/finding.ts';
import { wrongFields } from '../../api/validation/finding.ts';
import { routeHostBits } from '../../api/validation/vpc-host-bits.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { keysOf } from '../../engine/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { ConditionOutput, Json, PatchOutput } from '../output.ts';
import { leftOut } from '../findings-text.ts';
import { namespacesFindings, namespacesOfAnotherVpc } from '../namespace/listed-namespaces.ts';
import { bfdPortStatus } from './bfd-port.ts';
import { hasSessions } from './bfd-sessions.ts';
import { bfdCondition, bfdFindings } from './bfd-status.ts';
import { gatewayConfigFindings } from '../nat/gateway-config-report.ts';
import { hiddenRoutes } from './hidden-routes.ts';
import { leftOutFindings } from './routes-left-out.ts';
import { externalCondition, externalStatus, unusedExternals } from '../nat/external-status.ts';
import { rowConflictOf } from '../row-conflict.ts';
import { hiddenDefaultRoutes } from '../subnet/rows/shared-subnet-routes.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcIntent } from '../../world/intent.ts';
import { gcModeFinding } from '../gc-annotation.ts';
import { unreadAnnotations } from '../unread-annotations.ts';
import { ineffectiveMatch, ineffectiveCondition } from '../ineffective-condition.ts';
import { unreachableNextHops } from './vpc-next-hops.ts';
import { unansweredNextHops } from './vpc-unanswered-hops.ts';
import { sharedRoute } from './shared-routes.ts';
import { emittedVpc, vpcFindings, vpcNameConflict } from './vpc-state.ts';
import { requestedRoute } from './requested-route.ts';
import { externalFindings, externalSwitches } from './external-vpcs.ts';
import { defaultRoutes } from './vpc-static-routes.ts';
import { defaultSubnetCondition } from './vpc-default-subnet.ts';
import { ineffectivePeeredRoutes } from './peered-routes.ts';
import { overlappingPeerings } from './peering-overlaps.ts';
import { peeringCondition } from './vpc-peering.ts';
import { noWayOutside } from './way-outside.ts';
import type { VpcView } from './vpc-view.ts';
import { vpcOwner, isStandby, vpcSpec, vpcView } from './vpc-view.ts';
import { loadBalancersOf } from './vpc-load-balancers.ts';
import { commandText } from '../../text/command-text.ts';

export const vpcStatus: Rule = {
  name: 'vpc-status',
  over: (world) => keysOf(world.vpcs),
  run: (world, name) => {
    const view = world.ask(vpcView, name);
    const spec = world.ask(vpcSpec, name);
    if (view === undefined || spec === undefined) return [];
    const hold = view.isDefault ? world.collection.get('hold') : undefined;
    const standby = isStandby(world, view, isEmitted(world, view));
    const loadBalancers: Record<string, Json> = view.external
      ? {}
      : Object.fromEntries(loadBalancersOf(world, name).map((lb) => [lb.statusField, lb.name]));
    const requested = [
      ...peeringCondition(world, name),
      ...defaultSubnetCondition(world, name),
      ...externalCondition(world, name),
      ...bfdCondition(world, view),
      ...(hold?.held === true ? [heldCondition(hold.message ?? '')] : []),
    ];
    const absent = (['Peered', 'DefaultSubnet', 'External', 'Bfd'] as const).filter(
      (type) => !requested.some((condition) => condition.type === type),
    );
    // A process that does not lead knows of no hold, and says nothing about one.
    const released = hold?.held === false ? (['CollectionHeld'] as const) : [];
    const bfdPort = bfdPortStatus(world, view);
    const ineffectiveReport = ineffectiveCondition(ineffective(world, view, spec), commandText`kubectl edit vpc ${name}`);
    const patch: PatchOutput = {
      kind: 'patch',
      resource: 'vpcs',
      key: name,
      uid: view.uid,
      status: {
        standby,
        default: view.isDefault,
        defaultLogicalSwitch: view.defaultSubnet,
        router: standby ? view.router : '',
        ...loadBalancers,
        subnets: view.external
          ? [...new Set([...subnetsIn(world, name), ...world.ask(externalSwitches, name)])].toSorted()
          : subnetsIn(world, name),
        vpcPeerings: (spec.vpcPeerings ?? []).flatMap(({ remoteVpc = '' }) => (remoteVpc === '' ? [] : [remoteVpc])),
        ...externalStatus(world, name),
        enableBfd: hasSessions(world, view),
        ...(bfdPort !== undefined && { bfdPort }),
      },
      conditions: [...conditionsOf(world, view), ...requested, ...(ineffectiveReport.conditions ?? [])],
      withoutConditions: [...absent, ...released, ...(ineffectiveReport.withoutConditions ?? [])],
    };
    return [patch];
  },
};

function heldCondition(message: string): ConditionOutput {
  // The message has the number of rows as it is now.
  return { type: 'CollectionHeld', status: 'True', reason: 'CollectionHeld', message, event: 'Warning', eventOnce: true };
}

/** Names of the Subnets that OVN implements and that are not being deleted, sorted. */
function subnetsIn(world: World, vpc: string): readonly string[] {
  return [...world.subnetVpcs.in(vpc)]
    .filter((name) => {
      const subnet = world.ask(subnetView, name);
      return subnet !== undefined && !subnet.terminating && subnet.isOvn;
    })
    .toSorted();
}

/** Ineffective fields of its spec. */
function ineffective(world: World, view: VpcView, spec: VpcSpec): readonly Finding[] {
  const { name, external, terminating } = view;
  const { namespaces, policyRoutes = [] } = spec;
  const subject = { kind: 'Vpc', name };
  const bound = [
    // Those of a tenant that is deleted as a whole may go first.
    ...(terminating ? [] : namespacesFindings(world, subject, namespaces)),
    ...namespacesOfAnotherVpc(world, subject, name, namespaces),
    ...gcModeFinding(subject, world.ask(vpcIntent, name)?.metadata.annotations),
    ...unreadAnnotations(subject, world.ask(vpcIntent, name)?.metadata.annotations),
  ];
  if (external) return [...bound, ...externalFindings(name, spec)];
  const wrong = wrongFields(world.ask(vpcFindings, name));
  const matches = policyRoutes.flatMap(({ match = '' }, i) => {
    const field = `spec.policyRoutes[${i}].match`;
    return wrong.has(field) ? [] : ineffectiveMatch(world, subject, field, match);
  });
  return [
    ...bound,
    ...routeHostBits({ name, spec }),
    ...unusedExternals(name, spec),
    ...bfdFindings(world, view),
    ...(view.isDefault ? gatewayConfigFindings(world) : []),
    ...leftOutFindings(world, name),
    ...world.ask(hiddenRoutes, name),
    ...hiddenDefaultRoutes(world, name),
    ...world.ask(unreachableNextHops, name),
    ...world.ask(unansweredNextHops, name),
    ...world.ask(noWayOutside, name),
    ...world.ask(overlappingPeerings, name),
    ...world.ask(ineffectivePeeredRoutes, name),
    ...sharedRoutes(world, view, spec, wrong),
    ...matches,
  ];
}

/** @param wrong invalid fields and items of the spec */
function sharedRoutes(world: World, view: VpcView, { staticRoutes = [] }: VpcSpec, wrong: ReadonlySet<string>): readonly Finding[] {
  const subject = { kind: 'Vpc', name: view.name };
  const requested = staticRoutes.flatMap((route, i) => {
    const field = `spec.staticRoutes[${i}]`;
    return wrong.has(field) ? [] : requestedRoute(route).flatMap((one) => sharedRoute(world, subject, field, view.router, one));
  });
  const tables = new Set(['', ...staticRoutes.map(({ routeTable = '' }) => routeTable)]);
  const made = view.isDefault ? defaultRoutes(world, tables) : [];
  return [...requested, ...made.flatMap((route) => sharedRoute(world, subject, 'spec.staticRoutes', view.router, route))];
}

function isEmitted(world: World, { name }: VpcView): boolean {
  return emittedVpc(world, name) !== undefined;
}

function conditionsOf(world: World, view: VpcView): readonly ConditionOutput[] {
  const nameConflict = world.ask(vpcNameConflict, view.name);
  const accepted: ConditionOutput =
    nameConflict === undefined
      ? (leftOut('vpc', view.name, world.ask(vpcFindings, view.name)) ?? {
          type: 'Accepted',
          status: 'True',
          reason: 'Accepted',
          message: '',
        })
      : { type: 'Accepted', status: 'False', reason: nameConflict.code, message: nameConflict.message, event: 'Warning' };
  const conflict = rowConflictOf(world, vpcOwner(view));
  if (conflict !== undefined) return [accepted, { type: 'Ready', status: 'False', reason: 'RowConflict', message: conflict }];
  const ready: ConditionOutput = isStandby(world, view, isEmitted(world, view))
    ? { type: 'Ready', status: 'True', reason: 'RouterReady', message: `Logical router ${view.router} is in place` }
    : {
        type: 'Ready',
        status: 'False',
        reason: 'RouterPending',
        message: `Logical router ${view.router} does not exist yet, or is not this Vpc's`,
      };
  return [accepted, ready];
}
