import type { Rule } from '../../compile/rule.ts';
import { ipFields } from '../../compile/ip/ip-fields.ts';
import { ipLifecycle } from '../../compile/ip/ip-lifecycle.ts';
import { reservedIp } from '../../compile/ip/reserved-ip.ts';

export const rules: readonly Rule[] = [ipLifecycle, reservedIp, ipFields];
