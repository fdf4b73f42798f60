/** Whether the spec of a Subnet takes effect. */
import type { Reason } from '../../../api/reasons.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { isSubnetLateForVpc } from '../../../kinds/subnet/dependencies/late-subnets.ts';
import { isEstablished } from '../../../kinds/subnet/dependencies/subnet-switch.ts';
import { acceptsNoSubnet } from '../../../kinds/subnet/dependencies/vpc-subnets.ts';
import { isLeftOut } from '../../../api/validation/subnet-validation.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { isRunning, requestedBasics } from './subnet-basics.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { subnetConflict, immutableFieldChanged } from './subnet-conflicts.ts';
import { subnetFindings } from './subnet-findings.ts';
import { findingsText } from '../../findings-text.ts';
import { vpcView } from '../../vpc/vpc-view.ts';
import { commandText } from '../../../text/command-text.ts';

/** Why a Subnet is not accepted. */
export interface SubnetProblem {
  /** Reason of its conditions. */
  readonly reason: Reason;
  /** The broken rule of the spec, if that is the reason. */
  readonly code?: Reason;
  readonly message: string;
}

/**
 * - `accepted`: rules emit the rows from the spec, also while the Subnet is being deleted and has blockers;
 * - `frozen`: the spec is invalid, or conflicts with another object, and a network is running: the last accepted spec stays in effect;
 * - `invalid`: the same without a running network: no rows.
 */
export type SubnetAcceptance = { readonly kind: 'accepted' } | ({ readonly kind: 'frozen' | 'invalid' } & SubnetProblem);

const ACCEPTED: SubnetAcceptance = { kind: 'accepted' };

export const subnetAcceptance: Query<SubnetAcceptance> = defineQuery('subnet-acceptance', (world, name) => {
  const problem = problemOf(world, name);
  if (problem === undefined) return ACCEPTED;
  return { kind: isRunning(world, name) ? 'frozen' : 'invalid', ...problem };
});

isSubnetLateForVpc.define((world, name) => problemOf(world, name)?.reason === 'VpcTerminating');

function problemOf(world: World, name: string): SubnetProblem | undefined {
  const view = world.ask(requestedBasics, name);
  if (view === undefined) return { reason: 'NotFound', message: `Subnet ${name} does not exist` };
  const broken = brokenRules(world, view);
  const [first] = broken;
  if (first !== undefined) return { reason: 'ValidateLogicalSwitchFailed', code: first.code, message: findingsText(broken) };
  if (!view.isOvn) return undefined;
  if (world.ask(vpcView, view.vpc) === undefined) return vpcMissing(name, view.vpc);
  if (world.ask(acceptsNoSubnet, view.vpc) && !world.ask(isEstablished, name)) return vpcTerminating(name, view.vpc);
  return undefined;
}

/** All findings if one of them makes the spec invalid, that one first; else none. */
function brokenRules(world: World, view: SubnetBasics): readonly Finding[] {
  const { name } = view;
  const findings = world.ask(subnetFindings, name);
  const others = [world.ask(subnetConflict, name), world.ask(immutableFieldChanged, name)].flatMap((one) =>
    one === undefined || findings.some(({ code }) => code === one.code) ? [] : [one],
  );
  const invalid = [...findings.filter((one) => !isLeftOut(one)), ...others];
  return invalid.length === 0 ? invalid : [...invalid, ...findings.filter(isLeftOut)];
}

/** @param vpc the default one if the spec names none, here and below */
export function vpcMissing(name: string, vpc: string): SubnetProblem {
  return vpcProblem(name, vpc, 'VpcMissing', 'names a Vpc that does not exist', 'it must name one that does; kubectl get vpcs');
}

export function vpcTerminating(name: string, vpc: string): SubnetProblem {
  const rule = `such a Vpc accepts no new Subnet; ${commandText`kubectl describe vpc ${vpc}`}`;
  return vpcProblem(name, vpc, 'VpcTerminating', 'names a Vpc that is being deleted', rule);
}

function vpcProblem(name: string, vpc: string, reason: Reason, problem: string, rule: string): SubnetProblem {
  return { reason, message: findingOf({ kind: 'Subnet', name }, { code: reason, field: 'spec.vpc', value: vpc, problem, rule }).message };
}
