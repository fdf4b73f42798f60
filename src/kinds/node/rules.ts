import type { Rule } from '../../compile/rule.ts';
import { nodeAddresses } from '../../compile/node/node-addresses.ts';
import { nodeConflict } from '../../compile/node/node-conflict.ts';
import { nodeJoin } from '../../compile/node/node-join.ts';
import { nodePolicy } from '../../compile/node/node-policy.ts';
import { nodePortGroups } from '../../compile/node/node-port-group.ts';

export const rules: readonly Rule[] = [nodeJoin, nodePortGroups, nodePolicy, nodeAddresses, nodeConflict];
