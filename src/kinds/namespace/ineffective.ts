import { kilnAnnotation } from '../../api/well-known.ts';
import type { IneffectiveCheck } from '../../compile/ineffective-check.ts';
import { ofAnnotations } from '../../compile/ineffective-check.ts';
import { misboundPolicyFinding } from '../../compile/pod/address/misbound.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

const unread = ofAnnotations('namespaces');

/** Includes an unknown policy for misbound pods. */
export const ineffective: IneffectiveCheck = {
  resource: 'namespaces',
  may: (object: AnyObservedObject) => object.metadata.annotations?.[kilnAnnotation.misbound] !== undefined || unread.may(object as never),
  findings: defineQuery('namespace-ineffective', (world, name) => {
    const policy = world.ask(misboundPolicyFinding, name);
    return [...(policy === undefined ? [] : [policy]), ...world.ask(unread.findings, name)];
  }),
};
