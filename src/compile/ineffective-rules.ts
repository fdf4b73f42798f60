/** Ineffective fields and annotations of the kinds with part `ineffective`. The other kinds report theirs with the rest of their status. */
import type { Finding } from '../api/validation/finding.ts';
import { INEFFECTIVE_OF_KINDS } from '../kinds/generated/ineffective.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { AnyObservedObject, World } from '../world/world.ts';
import type { Rule } from './rule.ts';
import type { IneffectiveCheck } from './ineffective-check.ts';
import { ineffectiveRule } from './ineffective-check.ts';

const CHECKS: Readonly<Partial<Record<ResourceName, IneffectiveCheck>>> = INEFFECTIVE_OF_KINDS;

/** Whether these rules report on objects of a kind. */
export function isChecked(resource: ResourceName): boolean {
  return CHECKS[resource] !== undefined;
}

export const ineffectiveRules: readonly Rule[] = Object.values(CHECKS).map(ineffectiveRule);

/**
 * The findings about an object whose kind has no conditions; none for other kinds, whose conditions report them. Not for rules: it reads
 * outside of them.
 */
export function ineffectiveWithoutCondition(
  world: World,
  resource: ResourceName,
  key: string,
  object: AnyObservedObject,
): readonly Finding[] {
  if (traitsOf(resource).conditions !== 'none') return [];
  const check = CHECKS[resource];
  if (check === undefined || !check.may(object as never)) return [];
  return world.glance(() => world.ask(check.findings, key));
}
