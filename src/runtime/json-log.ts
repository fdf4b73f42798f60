/** The log as JSON lines. Apart from `log.ts`, since a command without a log does not load its packages. */
import { pino } from 'pino';
import { exactJson } from '../text/exact-text.ts';
import type { Log, LogLevel } from './log.ts';
import { redacted, redactedText } from './redaction.ts';

/** Maximal characters of one text in a line: a tenant's annotation may have 256 kB, and each line is searched for secrets. */
const LONGEST = 16_384;

/** @param write takes one line without its newline; default: standard output */
export function jsonLog(level: LogLevel, write?: (line: string) => void): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: (fields: Record<string, unknown>) => redacted(fields, LONGEST) },
    // Control characters in texts of other programs or users must not reach a reader's terminal.
    hooks: { streamWrite: exactJson },
  };
  const logger = write === undefined ? pino(options) : pino(options, { write: (line: string) => write(line.trimEnd()) });
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, redactedText(message)),
    info: (message, fields) => logger.info(fields ?? {}, redactedText(message)),
    warn: (message, fields) => logger.warn(fields ?? {}, redactedText(message)),
    error: (message, fields) => logger.error(fields ?? {}, redactedText(message)),
  };
}
