/**
 * The log: a constant message and fields, as JSON lines. Created once at the edge and passed down; never global.
 */
import { pino } from 'pino';
import { exactJson } from '../text/exact-text.ts';
import { redacted, redactedText } from './redaction.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

/** Maximal characters of one text in a line: a tenant's annotation may have 256 kB, and each line is searched for secrets. */
const LONGEST = 16_384;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

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

export const SILENT: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
