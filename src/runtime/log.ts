/**
 * The log: a constant message and fields. Created once at the edge (`json-log.ts`) and passed down; never global.
 */
import type { LogField } from './log-fields.ts';

export type Fields = { readonly [field in LogField]?: unknown };

export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export const SILENT: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
