/**
 * The controller's own backups. Each is made by a process of its own, `kiln backup`: to write the whole database takes time and memory that
 * would delay the writes of the controller.
 */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { BackupSchedule } from '../../backup/schedule.ts';
import type { Log } from '../../runtime/log.ts';
import { ownProgram } from '../../runtime/own-program.ts';
import type { MetricSink } from '../../runtime/metrics.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { systemClock } from '../../timing/clock.ts';

export interface BackupSettings {
  readonly ovnNb?: string;
  readonly ovnCa?: string;
  readonly ovnCert?: string;
  readonly ovnKey?: string;
  /** A directory, or `off`. */
  readonly backup: string;
  /** Milliseconds. */
  readonly backupEvery: number;
  readonly backupKeep: number;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A process that makes no progress is ended. */
const MOST_MS = 10 * 60_000;

/** @param leads whether this process leads @returns stops it; undefined if backups are off */
export function scheduleBackups(
  settings: BackupSettings,
  leads: () => boolean,
  metrics: MetricSink,
  log: Log,
): (() => Promise<void>) | undefined {
  if (settings.backup === 'off') return undefined;
  const directory = resolve(settings.backup);
  const schedule = new BackupSchedule({
    ...{ directory, everyMs: settings.backupEvery, clock: systemClock, leads },
    make: (signal) => backUp(directory, settings, signal),
    done: (failure) => {
      if (failure === undefined) log.info('backup written', { directory });
      else log.warn('no backup could be written', { directory, error: failure });
    },
  });
  metrics.read('kiln_backup_failing', (report) => report({}, schedule.failure === undefined ? 0 : 1));
  metrics.read('kiln_backup_last_timestamp_seconds', (report) => {
    if (schedule.newest !== undefined) report({}, schedule.newest / 1_000);
  });
  schedule.start();
  return () => schedule.stop();
}

function backUp(directory: string, settings: BackupSettings, signal: AbortSignal): Promise<void> {
  const { ovnNb = '', ovnCa, ovnCert, ovnKey, kubeconfig, context, backupKeep } = settings;
  const given = Object.entries({
    ...{ 'ovn-nb': ovnNb, 'ovn-ca': ovnCa, 'ovn-cert': ovnCert, 'ovn-key': ovnKey, context },
    ...{ kubeconfig: kubeconfig === undefined ? undefined : resolve(kubeconfig), keep: backupKeep },
  });
  const flags = given.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}=${value}`]));
  const [file, ...own] = ownProgram();
  const program = [...process.execArgv, ...own, 'backup', directory, ...flags];
  return new Promise((done, fail) => {
    execFile(file, program, { signal, timeout: MOST_MS, maxBuffer: 1_024 * 1_024 }, (error, _, stderr) => {
      if (error === null) return done();
      const told = withoutSecrets(
        stderr
          .trim()
          .replaceAll(/\s*\n\s*/g, ': ')
          .slice(0, 500),
      );
      fail(new Error(told === '' ? error.message : told));
    });
  });
}
