/** The parsed flags of `kiln agent`. */
import type { LogLevel } from '../../runtime/log.ts';

export interface AgentFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly node: string;
  readonly vswitch: string;
  readonly socket: string;
  /** Not given for its subcommands. */
  readonly southbound?: string;
  readonly tunnel: 'geneve' | 'vxlan' | 'stt';
  readonly datapath: 'system' | 'netdev';
  readonly defaultVpc: string;
  readonly serviceClusterIpRange: string;
  readonly gatewayNamespace: string;
  readonly externalGatewayConfigNs: string;
  readonly externalGatewayNet: string;
  readonly externalGatewayVlanid: number;
  readonly mtu?: number;
  readonly nonPrimaryCniMode?: boolean;
  /** `off`: none. */
  readonly probeBindAddress: string;
  readonly logLevel: LogLevel;
}
