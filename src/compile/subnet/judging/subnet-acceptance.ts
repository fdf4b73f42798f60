/**
 * Whether a Subnet is carried out as its spec asks.
 */
import type { Reason } from '../../../api/reasons.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { subnetTooLate } from '../../../blockers/rule-queries.ts';
import { isSettled } from '../../../blockers/subnet-switch.ts';
import { takesNoSubnet } from '../../../blockers/vpc-subnets.ts';
import { isLeftOut } from '../../../api/validation/subnet-validation.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { isRunning, subnetBasics } from './subnet-basics.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { subnetConflict, subnetStays } from './subnet-conflicts.ts';
import { subnetFindings } from './subnet-findings.ts';
import { findingsText } from '../../left-out.ts';
import { vpcView } from '../../vpc/vpc-view.ts';
import { commandText } from '../../../text/command-text.ts';

export interface Refusal {
  /** Reason of a condition: one word in CamelCase. */
  readonly reason: Reason;
  /** The rule that is broken, where it is one of the spec's. */
  readonly code?: Reason;
  readonly message: string;
}

/**
 * What becomes of a Subnet's rows:
 * - `accepted`: rules state them from the spec (also while it terminates and somebody still holds an address);
 * - `frozen`: the spec cannot be carried out, but a network is running: its rows stay as they are observed;
 * - `refused`: the same with no network running: no rows.
 */
export type SubnetAcceptance = { readonly kind: 'accepted' } | ({ readonly kind: 'frozen' | 'refused' } & Refusal);

const ACCEPTED: SubnetAcceptance = { kind: 'accepted' };

export const subnetAcceptance: Query<SubnetAcceptance> = defineQuery('subnet-acceptance', (world, name) => {
  const refusal = refusalOf(world, name);
  if (refusal === undefined) return ACCEPTED;
  return { kind: isRunning(world, name) ? 'frozen' : 'refused', ...refusal };
});

subnetTooLate.define((world, name) => refusalOf(world, name)?.reason === 'VpcTerminating');

function refusalOf(world: World, name: string): Refusal | undefined {
  const view = world.ask(subnetBasics, name);
  if (view === undefined) return { reason: 'NotFound', message: `Subnet ${name} does not exist` };
  const broken = brokenRules(world, view);
  const [first] = broken;
  if (first !== undefined) return { reason: 'ValidateLogicalSwitchFailed', code: first.code, message: findingsText(broken) };
  if (!view.isOvn) return undefined;
  if (world.ask(vpcView, view.vpc) === undefined) return vpcMissing(name, view.vpc);
  if (world.ask(takesNoSubnet, view.vpc) && !world.ask(isSettled, name)) return vpcTerminating(name, view.vpc);
  return undefined;
}

/** All of them where one is a reason to refuse the Subnet, that one first. */
function brokenRules(world: World, view: SubnetBasics): readonly Finding[] {
  const { name } = view;
  const findings = world.ask(subnetFindings, name);
  const others = [world.ask(subnetConflict, name), world.ask(subnetStays, name)].flatMap((one) =>
    one === undefined || findings.some(({ code }) => code === one.code) ? [] : [one],
  );
  const refused = [...findings.filter((one) => !isLeftOut(one)), ...others];
  return refused.length === 0 ? refused : [...refused, ...findings.filter(isLeftOut)];
}

/** @param vpc the default one where the spec names none, here and below */
export function vpcMissing(name: string, vpc: string): Refusal {
  return refusalByVpc(name, vpc, 'VpcMissing', 'names a Vpc that does not exist', 'it must name one that does; kubectl get vpcs');
}

export function vpcTerminating(name: string, vpc: string): Refusal {
  const rule = `such a Vpc takes no new Subnet; ${commandText`kubectl describe vpc ${vpc}`}`;
  return refusalByVpc(name, vpc, 'VpcTerminating', 'names a Vpc that is being deleted', rule);
}

function refusalByVpc(name: string, vpc: string, reason: Reason, problem: string, rule: string): Refusal {
  return { reason, message: findingOf({ kind: 'Subnet', name }, { code: reason, field: 'spec.vpc', value: vpc, problem, rule }).message };
}
