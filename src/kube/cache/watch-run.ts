import type { Clock, TimerHandle } from '../../timing/clock.ts';
import { KubeError, type KubeSubject } from '../errors.ts';
import type { WatchEventType } from './cache-contents.ts';
import { LineSplitter } from './line-splitter.ts';
import type { KubeObject, Resource } from '../resource.ts';
import type { OpenWatch } from '../transport/transport.ts';
import type { WatchEvent } from './watch-event.ts';
import { decodeWatchEvent, readWatchEvent } from './watch-event.ts';

/** How a watch ended. All but `ended` and `limit` are faults of the server or the network. */
export type WatchEnd =
  /** The server closed it, as it does at its timeout. */
  | { readonly kind: 'ended' }
  /** `limitMs` was reached. */
  | { readonly kind: 'limit' }
  /** The version to resume from is too old for the server. */
  | { readonly kind: 'gone' }
  /** The server has not reached that version: its data was restored from a backup. */
  | { readonly kind: 'restored'; readonly served: string }
  | { readonly kind: 'undecodable'; readonly error: KubeError }
  | {
      readonly kind: 'silent';
      readonly error: KubeError;
      /** Nothing was received since it was opened. */
      readonly fromTheStart: boolean;
    }
  | { readonly kind: 'failed'; readonly error: KubeError };

export type FollowedEvent<T> =
  { readonly type: WatchEventType; readonly object: T } | { readonly type: 'BOOKMARK'; readonly version: string };

export interface WatchRun<T> {
  readonly resource: Resource;
  readonly subject: KubeSubject;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  open(signal: AbortSignal): Promise<OpenWatch>;
  readonly limitMs: number;
  readonly silenceMs: number;
  /** Silence allowed once a bookmark was received. */
  readonly bookmarkSilenceMs: number;
  /** Ends the watch as silent: the server has answered a write, and the event does not arrive. */
  readonly overdue: AbortSignal;
  /** When the server is asked whether it has reached the watch's version at all, in the clock's milliseconds. */
  askAt(): number;
  /** Asks; `askAt` is later then. @returns the server's version, if it is older */
  ask(): Promise<string | undefined>;
  opened(): void;
  /** The events that a chunk of the stream completed, also those before an undecodable line. */
  events(events: readonly FollowedEvent<T>[]): void;
}

/** The largest object an API server stores is some 3 MB. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
/** Timers of the platform hold 2^31 - 1 ms at most. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Shared by all ends: a new error each time would compute a stack that is never read. */
const OVER = new Error('the watch is over');

/** Follows one watch to its end. Throws only if it cannot be opened. */
export async function runWatch<T extends KubeObject>(run: WatchRun<T>): Promise<WatchEnd> {
  const stop = new AbortController();
  const abort = (): void => stop.abort(OVER);
  run.signal.addEventListener('abort', abort, { once: true });
  if (run.signal.aborted) abort();
  try {
    const watch = await run.open(stop.signal);
    run.opened();
    return await follow(run, watch);
  } finally {
    run.signal.removeEventListener('abort', abort);
    stop.abort(OVER);
  }
}

function follow<T extends KubeObject>(run: WatchRun<T>, watch: OpenWatch): Promise<WatchEnd> {
  const { clock, subject } = run;
  const lines = new LineSplitter(MAX_LINE_BYTES);
  const started = clock.now();
  let receivedAt = started;
  let silenceMs = run.silenceMs;
  let timer: TimerHandle;
  return new Promise((resolve) => {
    let ended = false;
    const end = (how: WatchEnd): void => {
      if (ended) return;
      ended = true;
      clock.clearTimeout(timer);
      run.overdue.removeEventListener('abort', overdue);
      watch.close();
      resolve(how);
    };
    const arm = (): void => {
      const now = clock.now();
      const limitIn = started + run.limitMs - now;
      const silenceIn = receivedAt + silenceMs - now;
      const askIn = run.askAt() - now;
      if (limitIn <= 0) end({ kind: 'limit' });
      else if (silenceIn <= 0) {
        const text = `nothing received for ${Math.round((now - receivedAt) / 1000)} s`;
        end({ kind: 'silent', error: new KubeError('KUBE_TIMEOUT', subject, text), fromTheStart: receivedAt === started });
      } else if (askIn <= 0) {
        void run.ask().then((served) => {
          if (served !== undefined) end({ kind: 'restored', served });
        });
        arm();
      } else timer = clock.setTimeout(arm, Math.min(limitIn, silenceIn, askIn, LONGEST_TIMER_MS));
    };
    const overdue = (): void => {
      const text = `nothing received for ${Math.round((clock.now() - receivedAt) / 1000)} s, although the server answered a write of this kind`;
      end({ kind: 'silent', error: new KubeError('KUBE_TIMEOUT', subject, text), fromTheStart: false });
    };
    run.overdue.addEventListener('abort', overdue, { once: true });
    const take = (chunk: unknown): void => {
      receivedAt = clock.now();
      const events: FollowedEvent<T>[] = [];
      const verdict = decodeChunk(lines, chunk, run, events);
      if (!run.signal.aborted && !ended && events.length > 0) {
        if (silenceMs > run.bookmarkSilenceMs && events.some((event) => event.type === 'BOOKMARK')) {
          silenceMs = run.bookmarkSilenceMs;
          clock.clearTimeout(timer);
          arm();
        }
        run.events(events);
      }
      if (verdict !== undefined) end(verdict);
    };
    watch.read({ take, ended: () => end({ kind: 'ended' }), failed: (error) => end({ kind: 'failed', error }) });
    arm();
  });
}

/** Whole lines are events; from a server in the same process they arrive parsed, one by one. */
function* eventsIn<T extends KubeObject>(
  lines: LineSplitter,
  chunk: unknown,
  { resource, subject }: Pick<WatchRun<T>, 'resource' | 'subject'>,
): Generator<WatchEvent<T>> {
  if (!Buffer.isBuffer(chunk)) yield readWatchEvent<T>(chunk, resource, subject);
  else for (const line of lines.push(chunk)) yield decodeWatchEvent<T>(line, resource, subject);
}

/** Fills `events`. @returns how the watch ends, if the chunk ends it */
function decodeChunk<T extends KubeObject>(
  lines: LineSplitter,
  chunk: unknown,
  run: Pick<WatchRun<T>, 'resource' | 'subject'>,
  events: FollowedEvent<T>[],
): WatchEnd | undefined {
  try {
    for (const event of eventsIn<T>(lines, chunk, run)) {
      if (event.type === 'ERROR') {
        return event.error.code === 'KUBE_GONE' ? { kind: 'gone' } : { kind: 'failed', error: event.error };
      }
      events.push(event);
    }
    return undefined;
  } catch (error) {
    return {
      kind: 'undecodable',
      error: error instanceof KubeError ? error : new KubeError('KUBE_PROTOCOL', run.subject, String(error), { cause: error }),
    };
  }
}
