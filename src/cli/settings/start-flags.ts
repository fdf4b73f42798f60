/** The parsed flags of `kiln start`. */
import type { LogLevel } from '../../runtime/log.ts';
import type { OvnFlags } from '../connection/connect.ts';
import type { NetworkFlags } from './network-flags.ts';
import type { WebhookFlags } from './webhook-flags.ts';

export interface StartFlags extends Partial<OvnFlags>, NetworkFlags, WebhookFlags {
  /** For a laboratory only. */
  readonly webhook: boolean;
  readonly check?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly namespace: string;
  /** Seconds. */
  readonly leaderElectLeaseDuration: number;
  readonly leaderElectRenewDeadline: number;
  readonly leaderElectRetryPeriod: number;
  readonly directory: string;
  readonly keep?: boolean;
  readonly nodes: number;
  readonly packets?: boolean;
  readonly port?: number;
  readonly demo: boolean;
  readonly logLevel: LogLevel;
  readonly metricsBindAddress: string;
  readonly metricsTokenFile?: string;
  readonly metricsSubnetLabel: boolean;
  readonly readOnly?: boolean;
  /** A directory, or `off`; undefined for the default (`journal-directory.ts`). */
  readonly journal?: string;
  readonly journalSize: number;
  /** A directory, or `off`. */
  readonly backup: string;
  /** Milliseconds. */
  readonly backupEvery: number;
  readonly backupKeep: number;
}
