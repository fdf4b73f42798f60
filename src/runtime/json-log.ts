/** The log as JSON lines. Apart from `log.ts`, since a command without a log does not load its packages. */
import { pino } from 'pino';
import { exactJson } from '../text/exact-text.ts';
import { withoutSecrets } from '../text/known-secrets.ts';
import { writtenFields } from './log-fields.ts';
import type { Log, LogLevel } from './log.ts';

/** @param write takes one line without its newline; default: standard output */
export function jsonLog(level: LogLevel, write?: (line: string) => void): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: writtenFields },
    // Control characters in texts of other programs or users must not reach a reader's terminal.
    hooks: { streamWrite: exactJson },
  };
  const logger = write === undefined ? pino(options) : pino(options, { write: (line: string) => write(line.trimEnd()) });
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, withoutSecrets(message)),
    info: (message, fields) => logger.info(fields ?? {}, withoutSecrets(message)),
    warn: (message, fields) => logger.warn(fields ?? {}, withoutSecrets(message)),
    error: (message, fields) => logger.error(fields ?? {}, withoutSecrets(message)),
  };
}
