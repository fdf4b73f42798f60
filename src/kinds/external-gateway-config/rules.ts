import type { Rule } from '../../compile/rule.ts';
import { gatewayConfigReport } from '../../compile/nat/gateway-config-report.ts';
import { gatewayNodeLabels } from '../../compile/nat/gateway-node-labels.ts';

export const rules: readonly Rule[] = [gatewayNodeLabels, gatewayConfigReport];
