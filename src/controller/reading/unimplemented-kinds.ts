/**
 * Kinds that Kiln does not implement yet. Each object of them gets a report, because silence about an unenforced policy is unsafe.
 */
import { celFindings, hasCelRules } from '../../api/cel/cel-rules.ts';
import type { Kind } from '../../api/schema/kind.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { Untrimmed } from '../../world/trim.ts';

export interface UnimplementedKind {
  readonly resource: ResourceName;
  /** What is not implemented for this object; undefined: it requests nothing. */
  readonly feature: (object: Untrimmed) => string | undefined;
  /** Its definition, if that has rules that only newer API servers enforce. */
  readonly kind?: Kind<unknown, unknown>;
}

/** What is kept of an object of such a kind, beside its identity. */
export interface ObservedOnly {
  readonly feature?: string;
  readonly broken?: readonly string[];
}

export const UNIMPLEMENTED_KINDS: readonly UnimplementedKind[] = RESOURCE_NAMES.flatMap((resource): readonly UnimplementedKind[] => {
  const { unimplemented, definition } = traitsOf(resource);
  if (unimplemented === undefined) return [];
  const feature = typeof unimplemented === 'string' ? (): string => unimplemented : unimplemented;
  return [{ resource, feature, ...(definition !== undefined && hasCelRules(definition) && { kind: definition }) }];
});

/** Messages about rules of the definition that an object breaks. */
export function brokenRules(kind: Kind<unknown, unknown>, { metadata: { name, namespace }, spec }: Untrimmed): readonly string[] {
  const subject = { kind: kind.kind, name, ...(namespace === undefined ? {} : { namespace }) };
  return celFindings(kind, subject, spec).map(({ message }) => message);
}
