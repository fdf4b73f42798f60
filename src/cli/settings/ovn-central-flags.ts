/** The parsed flags of `kiln ovn-central`. */
import type { LogLevel } from '../../runtime/log.ts';

export interface OvnCentralFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly node: string;
  readonly address: string;
  readonly nodes: string;
  readonly directory: string;
  readonly runDirectory: string;
  readonly schemas: string;
  readonly probeBindAddress: string;
  readonly logLevel: LogLevel;
}
