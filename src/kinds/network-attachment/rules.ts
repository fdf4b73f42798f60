import type { Rule } from '../../compile/compiler.ts';
import { attachmentFindings } from '../../compile/pod/interface/network-attachment.ts';

export const rules: readonly Rule[] = [attachmentFindings];
