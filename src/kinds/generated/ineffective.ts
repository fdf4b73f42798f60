/** Part `ineffective` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { ineffective as ip } from '../ip/ineffective.ts';
import { ineffective as pod } from '../pod/ineffective.ts';
import { ineffective as namespace } from '../namespace/ineffective.ts';
import { ineffective as node } from '../node/ineffective.ts';
import { ineffective as statefulSet } from '../stateful-set/ineffective.ts';
import { ineffective as networkAttachment } from '../network-attachment/ineffective.ts';
import { ineffective as virtualMachine } from '../virtual-machine/ineffective.ts';

export const INEFFECTIVE_OF_KINDS = {
  ips: ip,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  statefulsets: statefulSet,
  'network-attachment-definitions': networkAttachment,
  virtualmachines: virtualMachine,
} as const;
