import type { Rule } from '../../compile/rule.ts';
import { attachmentFindings } from '../../compile/pod/interface/network-attachment.ts';

export const rules: readonly Rule[] = [attachmentFindings];
