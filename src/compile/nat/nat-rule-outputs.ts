/**
 * OvnFip, OvnSnatRule and OvnDnatRule: their rows, status, finalizer and conditions. The rows come after the finalizer, so that no rule goes
 * before its rows, and no EIP before its rules.
 */
import { FINALIZER } from '../../api/well-known.ts';
import { commandText } from '../../text/command-text.ts';
import { keysOf } from '../../engine/domain.ts';
import { recordedSpec } from '../../kinds/ovn-fip/table/former-specs.ts';
import { traitsOf } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { deletionPatch } from '../deletion.ts';
import type { ConditionOutput, Json, Output, PatchOutput, RowOwner } from '../output.ts';
import { INEFFECTIVE, ineffectiveCondition } from '../ineffective-condition.ts';
import { rowConflictOf } from '../row-conflict.ts';
import type { Problem } from './external-problem.ts';
import { hasExternalPort } from './external-status.ts';
import { describeRule } from './nat-conflict-text.ts';
import { waitingRules } from './nat-conflicts.ts';
import { inEffect, obstacle } from './nat-in-effect.ts';
import { otherSourcesText } from './nat-sources.ts';
import { hasRows, natRows, NAT_RULE } from './nat-rows.ts';
import { notFirstPort } from './first-gateway-port.ts';
import { outgoingPolicies, outgoingText } from './outgoing-policies.ts';
import { outgoingAnnotationFinding } from './ways-out.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import type { Translation } from './nat-pairs.ts';
import { foreignNat } from './foreign-nat.ts';
import { staysText, translations } from './translation.ts';

/** The rule of a kind. */
export function ovnNatRule(resource: OvnNatRule): Rule {
  return {
    name: `${NAT_RULE}-${resource}`,
    over: (world) => keysOf(world.natRules[resource]),
    run: (world, name) => outputs(world, resource, name),
  };
}

interface RuleView {
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  readonly durable: boolean;
}

/** What the rows and the status of a rule depend on, beside its translation. */
const ruleView: Query<RuleView | undefined> = defineQuery('nat-rule-view', (world, key) => {
  const at = key.indexOf('/');
  const rule = world.natRules[key.slice(0, at) as OvnNatRule].get(key.slice(at + 1));
  if (rule === undefined) return undefined;
  const { uid, creationTimestamp, deletionTimestamp, finalizers = [] } = rule.metadata;
  return {
    uid,
    created: creationTimestamp,
    terminating: deletionTimestamp !== undefined,
    durable: finalizers.includes(FINALIZER),
  };
});

function outputs(world: World, resource: OvnNatRule, name: string): readonly Output[] {
  const key = `${resource}/${name}`;
  const view = world.ask(ruleView, key);
  const entry = view === undefined || view.terminating ? undefined : world.derived(translations).get(key);
  if (view === undefined) return [];
  const owner: RowOwner = { kind: traitsOf(resource).kind.toLowerCase(), namespace: '', name, uid: view.uid, created: view.created };
  const patch = deletionPatch(world, resource, name, owner, view.terminating);
  if (view.terminating || entry === undefined) return [patch];
  const { result } = entry;
  if (result.kind === 'problem') return [{ ...patch, ...notInEffect(resource, patch, result) }];
  const why = world.ask(obstacle, key);
  const effect = inEffect(world, key);
  const refused = why === undefined ? undefined : { ...why, message: `${traitsOf(resource).kind} ${name}: ${why.message}` };
  if (effect === undefined) return [{ ...patch, ...(refused !== undefined && notInEffect(resource, patch, refused)) }];
  const translation: Translation =
    refused === undefined
      ? effect.result
      : { ...effect.result, reported: { ...refused, message: `${refused.message}. ${staysText(resource, effect.result)}` } };
  const rows = natRows(world, resource, translation, owner);
  // A rule that is not durable yet could go before its rows. Those of Kube-OVN, which gave it no finalizer in older releases, stay.
  if (!view.durable && !rows.some((row) => row.kind === 'row' && world.rows.state(row.id) !== undefined)) return [patch];
  return [
    { ...patch, ...inEffectFields(world, resource, key, { owner, patch, translation }) },
    ...rows,
    ...outgoingPolicies(world, key, effect, owner),
  ];
}

type Fields = Pick<PatchOutput, 'status' | 'conditions' | 'withoutConditions'>;

function notInEffect(resource: OvnNatRule, patch: PatchOutput, problem: Problem): Fields {
  return {
    status: statusOf(resource, undefined, false),
    conditions: [...(patch.conditions ?? []), reportedCondition(problem)],
    withoutConditions: [...(patch.withoutConditions ?? []), 'Ready', 'NatConflict', INEFFECTIVE],
  };
}

interface RuleInEffect {
  readonly owner: RowOwner;
  readonly patch: PatchOutput;
  readonly translation: Translation;
}

function inEffectFields(world: World, resource: OvnNatRule, key: string, { owner, patch, translation }: RuleInEffect): Fields {
  const { kind } = traitsOf(resource);
  const subject = `${kind} ${owner.name}`;
  const placed = hasRows(world, resource, translation, owner);
  const connected = hasExternalPort(world, translation.vpc, translation.external);
  const conflict = rowConflictOf(world, owner) ?? foreignNat(world, resource, translation, owner);
  const dead = resource === 'ovn-dnat-rules' ? notFirstPort(world, translation) : undefined;
  const ready = placed && connected && conflict === undefined && dead === undefined;
  const waiting = waitingRules(world, key);
  const conditions: ConditionOutput[] = [...(patch.conditions ?? [])];
  const absent: NonNullable<Fields['withoutConditions']>[number][] = [...(patch.withoutConditions ?? [])];
  if (translation.reported === undefined) absent.push('Accepted');
  else conditions.push(reportedCondition(translation.reported));
  if (ready) conditions.push({ type: 'Ready', status: 'True', reason: 'Translated', message: outgoingText(world, key, translation) });
  else if (conflict !== undefined)
    conditions.push({ type: 'Ready', status: 'False', reason: 'RowConflict', message: `${subject}: ${conflict}`, event: 'Warning' });
  else if (placed && connected && dead !== undefined)
    conditions.push({ type: 'Ready', status: 'False', reason: 'GatewayPortNotFirst', message: `${subject}: ${dead}`, event: 'Warning' });
  else if (placed) {
    const { vpc, external } = translation;
    const message = `${subject}: the router of Vpc ${vpc} has no port in Subnet ${external} yet; ${commandText`kubectl describe vpc ${vpc}`}`;
    conditions.push({ type: 'Ready', status: 'False', reason: 'ExternalPending', message });
  }
  const { outside } = translation;
  const annotation = resource === 'ovn-snat-rules' ? outgoingAnnotationFinding(world, owner.name) : [];
  const ineffective = ineffectiveCondition([...(outside === undefined ? [] : [outside]), ...annotation], describeRule(key));
  conditions.push(...(ineffective.conditions ?? []));
  absent.push(...(ineffective.withoutConditions ?? []));
  const [first, ...others] = waiting;
  const sources = otherSourcesText(world, key);
  if (first === undefined && sources === '') absent.push('NatConflict');
  else {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const waits = `${subject} is in effect, and ${first}${more} ${others.length === 0 ? 'waits' : 'wait'} for it, since OVN cannot translate both; change or delete one of them`;
    const message = [...(first === undefined ? [] : [waits]), ...(sources === '' ? [] : [`${subject}: ${sources}`])].join('. ');
    conditions.push({ type: 'NatConflict', status: 'True', reason: 'NatConflict', message, event: 'Warning', eventOnce: true });
  }
  // Until the rows are observed the status stays as it is, also that of an edited rule: each write would be followed by another one.
  const status = placed || conflict !== undefined ? statusOf(resource, placed ? translation : undefined, ready) : undefined;
  return { ...(status !== undefined && { status }), conditions, withoutConditions: absent };
}

function reportedCondition({ reason, message, inProgress }: Problem): ConditionOutput {
  return { type: 'Accepted', status: 'False', reason, message, ...(inProgress !== true && { event: 'Warning' as const }) };
}

/** The fields of the status that a kind has; empty for a rule without rows. */
function statusOf(resource: OvnNatRule, translation: Translation | undefined, ready: boolean): Readonly<Record<string, Json>> {
  const of = (family: 4 | 6, side: 'external' | 'inner'): string => translation?.pairs.find((pair) => pair.family === family)?.[side] ?? '';
  const [v4Inner, v6Inner] = resource === 'ovn-snat-rules' ? (['v4IpCidr', 'v6IpCidr'] as const) : (['v4Ip', 'v6Ip'] as const);
  return {
    ready,
    vpc: translation?.vpc ?? '',
    v4Eip: of(4, 'external'),
    v6Eip: of(6, 'external'),
    [v4Inner]: of(4, 'inner'),
    [v6Inner]: of(6, 'inner'),
    ...(resource === 'ovn-fips' && { macAddress: translation?.mac ?? '' }),
    ...(resource === 'ovn-dnat-rules' && {
      protocol: translation?.protocol ?? '',
      externalPort: translation?.externalPort ?? '',
      internalPort: translation?.internalPort ?? '',
      ipName: recordedSpec(translation?.spec ?? '')?.ipName ?? '',
    }),
  };
}
