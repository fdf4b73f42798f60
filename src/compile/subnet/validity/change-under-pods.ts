/**
 * Whether an administrator allows changes of a Subnet that running pods cannot follow: these pods are cut off until they are created again.
 */
import { kilnAnnotation } from '../../../api/well-known.ts';
import { commandText } from '../../../text/command-text.ts';
import type { SubnetIntent } from '../../../world/intent.ts';

export function mayChangeUnderPods({ metadata: { annotations = {} } }: Pick<SubnetIntent, 'metadata'>): boolean {
  return annotations[kilnAnnotation.allowChangeUnderPods]?.trim() === 'true';
}

/** The command that allows it. */
export function changeUnderPods(subnet: string): string {
  return commandText`kubectl annotate subnet ${subnet} ${kilnAnnotation.allowChangeUnderPods}=true`;
}
