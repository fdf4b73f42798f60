/**
 * A reporter for `node --test-reporter`: one line of JSON for each result, read by `test-file.ts`. Errors are formatted here, in the
 * process that has them.
 */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { cpuSeconds } from './cpu-time.ts';

/** One line of the report. `running` comes before a result, so that the tests under way in a file that hangs are known. */
export type ReportLine =
  | { readonly kind: 'running'; readonly name: string }
  | { readonly kind: 'passed'; readonly name: string }
  | { readonly kind: 'skipped'; readonly name: string; readonly reason: string }
  | { readonly kind: 'failed'; readonly name: string; readonly detail: string }
  /** With the processor time of the file and of all processes that it started. */
  | { readonly kind: 'ended'; readonly cpuSeconds: number };

/** What the runner reports about a test. */
interface Told {
  readonly name: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details?: { readonly type?: string; readonly error?: Error & { readonly failureType?: string } };
}

export default async function* reportLines(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    const line = toLine(type, data);
    if (line !== undefined) yield `${JSON.stringify(line)}\n`;
  }
}

function toLine(type: string, data: unknown): ReportLine | undefined {
  const event = data as Told;
  switch (type) {
    case 'test:dequeue':
      return { kind: 'running', name: event.name };
    case 'test:pass':
      return passed(event);
    case 'test:fail':
      return failed(event);
    case 'test:summary':
      return { kind: 'ended', cpuSeconds: cpuSeconds() };
    default:
      return undefined;
  }
}

function passed({ name, skip, todo, details }: Told): ReportLine | undefined {
  const reason = skip || todo;
  if (reason === undefined || reason === false || reason === '') {
    return details?.type === 'suite' ? undefined : { kind: 'passed', name };
  }
  return { kind: 'skipped', name, reason: typeof reason === 'string' ? reason : 'no reason given' };
}

function failed({ name, details }: Told): ReportLine | undefined {
  // A parent fails with its children, which have the errors.
  if (details?.error?.failureType === 'subtestsFailed') return undefined;
  return { kind: 'failed', name, detail: inspect(details?.error?.cause ?? details?.error, { depth: 8 }) };
}
