import { kilnAnnotation } from '../../api/well-known.ts';
import type { IneffectiveCheck } from '../../compile/ineffective-check.ts';
import { ofAnnotations } from '../../compile/ineffective-check.ts';
import { gcModeFinding } from '../../compile/gc-annotation.ts';
import { misboundPolicyFinding } from '../../compile/pod/address/misbound.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

const unread = ofAnnotations('namespaces');

const POLICIES: readonly string[] = [kilnAnnotation.misbound, kilnAnnotation.gc];

/** Includes unknown policies for misbound pods and for the collection. */
export const ineffective: IneffectiveCheck = {
  resource: 'namespaces',
  may: (object: AnyObservedObject) =>
    POLICIES.some((key) => object.metadata.annotations?.[key] !== undefined) || unread.may(object as never),
  findings: defineQuery('namespace-ineffective', (world, name) => {
    const policy = world.ask(misboundPolicyFinding, name);
    const collection = gcModeFinding({ kind: 'Namespace', name }, world.namespaces.get(name)?.metadata.annotations);
    return [...(policy === undefined ? [] : [policy]), ...collection, ...world.ask(unread.findings, name)];
  }),
};
