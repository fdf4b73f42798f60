/** Part `words` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { words as vpc } from '../vpc/words.ts';
import { words as subnet } from '../subnet/words.ts';
import { words as ip } from '../ip/words.ts';
import { words as ipPool } from '../ip-pool/words.ts';
import { words as pod } from '../pod/words.ts';
import { words as namespace } from '../namespace/words.ts';
import { words as node } from '../node/words.ts';
import { words as virtualMachine } from '../virtual-machine/words.ts';
import { words as virtualMachineInstance } from '../virtual-machine-instance/words.ts';
import { words as vip } from '../vip/words.ts';
import { words as ovnEip } from '../ovn-eip/words.ts';
import { words as iptablesEip } from '../iptables-eip/words.ts';

export const WORDS_OF_KINDS = {
  vpcs: vpc,
  subnets: subnet,
  ips: ip,
  ippools: ipPool,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  virtualmachines: virtualMachine,
  virtualmachineinstances: virtualMachineInstance,
  vips: vip,
  'ovn-eips': ovnEip,
  'iptables-eips': iptablesEip,
} as const;
