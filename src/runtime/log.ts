/**
 * The log: a constant message and fields, as JSON lines. Made once at the edge and passed down; never global.
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

/** Characters of one text in a line: a tenant's annotation has 256 kB, and the line is looked through before the next turn. */
const LONGEST = 16_384;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** @param write takes one line without its newline; standard output when absent */
export function jsonLog(level: LogLevel, write?: (line: string) => void): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: (fields: Record<string, unknown>) => redacted(fields, LONGEST) },
    // Whoever reads the log in a terminal sees what others wrote, and does not obey it.
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
