/** Whether an administrator lets a Subnet change what the interfaces of running pods keep: they are cut off until they are made again. */
import { kilnAnnotation } from '../../../api/well-known.ts';
import { commandText } from '../../../text/command-text.ts';
import type { SubnetIntent } from '../../../world/intent.ts';

export function mayChangeUnderPods({ metadata: { annotations = {} } }: Pick<SubnetIntent, 'metadata'>): boolean {
  return annotations[kilnAnnotation.allowChangeUnderPods]?.trim() === 'true';
}

/** The command that lets it. */
export function changeUnderPods(subnet: string): string {
  return commandText`kubectl annotate subnet ${subnet} ${kilnAnnotation.allowChangeUnderPods}=true`;
}
