/**
 * The list of all rules.
 */
import type { Rule } from './compiler.ts';
import { ipLifecycle } from './ip-lifecycle.ts';
import { nodeJoin } from './node-join.ts';
import { nodePolicy } from './node-policy.ts';
import { nodePortGroups } from './node-port-group.ts';
import { podAddress } from './pod-address.ts';
import { podAnnotations } from './pod-annotations.ts';
import { podIp } from './pod-ip.ts';
import { podPort } from './pod-port.ts';
import { reservedIp } from './reserved-ip.ts';
import { retainedPort } from './retained-port.ts';

export const RULES: readonly Rule[] = [
  podAddress, podIp, podPort, podAnnotations,
  ipLifecycle, retainedPort, reservedIp,
  nodeJoin, nodePortGroups, nodePolicy,
];
