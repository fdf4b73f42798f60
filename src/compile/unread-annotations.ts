/** Annotations of Kube-OVN's and Kiln's groups that no program reads, as findings. */
import type { AttachedNetwork, UnreadKey } from '../api/pod/annotation-keys.ts';
import { keysForTemplate, unreadKeys } from '../api/pod/annotation-keys.ts';
import type { Labels } from '../api/kubernetes/meta.ts';
import type { Finding, Subject } from '../api/validation/finding.ts';
import { findingOf } from '../api/validation/finding.ts';

/** @param networks that a pod attaches */
export function unreadAnnotations(
  subject: Subject,
  annotations: Labels | undefined,
  networks: readonly AttachedNetwork[] = [],
): readonly Finding[] {
  return unreadKeys(subject.kind, annotations, networks).map((unread) => findingFor(subject, annotations, unread));
}

/** Annotations of a workload that only its pods could use. @param template the annotations of its pods */
export function annotationsForTemplate(
  subject: Subject,
  annotations: Labels | undefined,
  template: Labels | undefined,
): readonly Finding[] {
  return keysForTemplate(annotations, template).map((unread) => findingFor(subject, annotations, unread));
}

function findingFor(subject: Subject, annotations: Labels | undefined, { key, rule }: UnreadKey): Finding {
  const value = annotations?.[key] ?? '';
  return findingOf(subject, {
    code: 'AnnotationUnread',
    field: `metadata.annotations[${key}]`,
    value,
    problem: 'is read by no program',
    rule,
  });
}
