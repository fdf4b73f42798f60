/**
 * Files with keys and tokens that every user of the host can read. A warning rather than an error: the user who mounts the files may not
 * be able to change their mode.
 */
import { statSync } from 'node:fs';
import type { Log } from '../../runtime/log.ts';

export interface SecretFiles {
  readonly ovnKey?: string;
  readonly webhookKey?: string;
  readonly metricsTokenFile?: string;
}

const READ_BY_OTHERS = 0o004;

export function warnOfReadableSecrets({ ovnKey, webhookKey, metricsTokenFile }: SecretFiles, log: Log): void {
  const files = { '--ovn-key': ovnKey, '--webhook-key': webhookKey, '--metrics-token-file': metricsTokenFile };
  for (const [flag, file] of Object.entries(files)) {
    const mode = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.mode;
    if (file === undefined || mode === undefined || (mode & READ_BY_OTHERS) === 0) continue;
    log.warn('a file with a secret can be read by every user of this host', {
      flag,
      file,
      mode: `0${(mode & 0o777).toString(8)}`,
      next: `chmod o-rwx ${JSON.stringify(file)}; of a mounted Secret: defaultMode 288 (0440) with an fsGroup, as in deploy/controller.yaml`,
    });
  }
}
