/**
 * A reporter for `node --test-reporter`: one line of JSON for each result, read by `test-file.ts`. Errors are formatted here, in the
 * process that has them.
 */
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { cpuSeconds } from './cpu-time.ts';

/** The test's name, and the file that has it: an absolute path. */
export interface Place {
  readonly name: string;
  readonly file?: string;
}

/** One line of the report. `running` comes before a result, so that the tests under way in a file that hangs are known. */
export type ReportLine =
  | (Place & { readonly kind: 'running' })
  | (Place & { readonly kind: 'passed' })
  | (Place & { readonly kind: 'skipped'; readonly reason: string })
  | (Place & { readonly kind: 'failed'; readonly detail: string })
  /** With the processor time of the files and of all processes that it started. */
  | { readonly kind: 'ended'; readonly cpuSeconds: number };

/** What the runner reports about a test. */
interface Told extends Place {
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
      return { kind: 'running', ...place(event) };
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

function place({ name, file }: Told): Place {
  return file === undefined ? { name } : { name, file };
}

function passed(event: Told): ReportLine | undefined {
  const { skip, todo, details } = event;
  const reason = skip || todo;
  if (reason === undefined || reason === false || reason === '') {
    return details?.type === 'suite' ? undefined : { kind: 'passed', ...place(event) };
  }
  return { kind: 'skipped', ...place(event), reason: typeof reason === 'string' ? reason : 'no reason given' };
}

function failed(event: Told): ReportLine | undefined {
  const { details } = event;
  // A parent fails with its children, which have the errors.
  if (details?.error?.failureType === 'subtestsFailed') return undefined;
  return { kind: 'failed', ...place(event), detail: inspect(details?.error?.cause ?? details?.error, { depth: 8 }) };
}
