/**
 * The provider of a NetworkAttachmentDefinition's network, and the report of an unreadable one: it has no status, so its condition is in an
 * annotation.
 */
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import type { AttachmentKind } from '../../../api/pod/network-attachment.ts';
import { asksForDefaultInterface, attachmentBreaches, attachmentKind } from '../../../api/pod/network-attachment.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import { findingsText } from '../../findings-text.ts';
import { commandText } from '../../../text/command-text.ts';

/** Undefined if there is none of this key. */
export const attachment: Query<AttachmentKind | undefined> = defineQuery('network-attachment', (world, key) => {
  const definition = world.networkAttachments.get(key);
  return definition === undefined ? undefined : attachmentKind(definition.spec.config);
});

/** Whether its plugin requests the pod's default interface. */
export const attachmentOfDefault: Query<boolean> = defineQuery('network-attachment-of-default', (world, key) =>
  asksForDefaultInterface(world.networkAttachments.get(key)?.spec.config),
);

/** Findings in a definition that a plugin could not read completely. @param key `<namespace>/<name>` */
const findingsOf: Query<readonly Finding[]> = defineQuery('network-attachment-findings', (world, key) => {
  const [namespace = '', name = ''] = key.split('/');
  const next = commandText`kubectl edit net-attach-def -n ${namespace} ${name}`;
  return attachmentBreaches({ namespace, name }, world.networkAttachments.get(key)?.spec.config).map(({ rule, ...breach }) =>
    findingOf({ kind: 'NetworkAttachmentDefinition', namespace, name }, { ...breach, rule: `${rule}; ${next}` }),
  );
});

/** Why the provider of the network is unknown. */
export function unreadableAttachment(world: World, key: string): Finding | undefined {
  return world.ask(attachment, key) === 'unreadable' ? world.ask(findingsOf, key)[0] : undefined;
}

export const attachmentFindings: Rule = {
  name: 'network-attachment',
  over: (world) => keysOf(world.networkAttachments),
  run: (world, key) => {
    const uid = world.ask(attachmentUid, key);
    if (uid === undefined) return [];
    const findings = world.ask(findingsOf, key);
    const patch = { kind: 'patch', resource: 'network-attachment-definitions', key, uid } as const;
    const [first] = findings;
    if (first === undefined) return [{ ...patch, withoutConditions: ['Accepted'] }];
    const message = findingsText(findings);
    return [{ ...patch, conditions: [{ type: 'Accepted', status: 'False', reason: first.code, message, event: 'Warning' }] }];
  },
};

/** A query of its own, so that the written condition runs no rule. */
const attachmentUid: Query<string | undefined> = defineQuery(
  'network-attachment-uid',
  (world, key) => world.networkAttachments.get(key)?.metadata.uid,
);
