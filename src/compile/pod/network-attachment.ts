/**
 * What carries the network of a NetworkAttachmentDefinition, and what is said of one that nobody can read: it has no status, so an Event.
 */
import type { Finding } from '../../api/finding.ts';
import { findingOf } from '../../api/finding.ts';
import type { AttachmentKind } from '../../api/network-attachment.ts';
import { attachmentKind } from '../../api/network-attachment.ts';
import { keysOf } from '../../world/domain.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';

/** Undefined where there is none of that key. */
export const attachment: Query<AttachmentKind | undefined> = defineQuery('network-attachment', (world, key) => {
  const definition = world.networkAttachments.get(key);
  return definition === undefined ? undefined : attachmentKind(definition.spec.config);
});

/** About one that cannot be read. @param key `<namespace>/<name>` */
export const unreadable: Query<Finding | undefined> = defineQuery('network-attachment-unreadable', (world, key) => {
  const definition = world.networkAttachments.get(key);
  if (definition === undefined || attachmentKind(definition.spec.config) !== 'unreadable') return undefined;
  const [namespace = '', name = ''] = key.split('/');
  return findingOf(
    { kind: 'NetworkAttachmentDefinition', namespace, name },
    {
      code: 'InvalidNetwork',
      field: 'spec.config',
      value: definition.spec.config ?? '',
      problem: isJson(definition.spec.config ?? '') ? 'is JSON, but no object' : 'is not JSON',
      rule: `it is a CNI configuration, an object in JSON; kubectl get net-attach-def -n ${namespace} ${name} -o yaml`,
    },
  );
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export const attachmentUnreadable: Rule = {
  name: 'network-attachment',
  over: (world) => keysOf(world.networkAttachments, ({ spec }) => attachmentKind(spec.config) === 'unreadable'),
  run: (world, key) => {
    const finding = world.ask(unreadable, key);
    const uid = world.networkAttachments.get(key)?.metadata.uid;
    if (finding === undefined || uid === undefined) return [];
    const { code: reason, message } = finding;
    return [{ kind: 'notice', resource: 'network-attachment-definitions', key, uid, type: 'Warning', reason, message }];
  },
};
