/** Whether a Northbound database answers: its schema is asked for, and nothing is kept. */
import type { OvsdbOptions } from '../../ovsdb/index.ts';
import { OvsdbSession } from '../../ovsdb/index.ts';

/** @param abandoned another way was found: the command no longer waits for the answer @returns why it cannot be used; undefined: it answers */
export async function probeDatabase(
  endpoint: string,
  options: Partial<OvsdbOptions>,
  timeoutMs: number,
  abandoned: AbortSignal,
): Promise<string | undefined> {
  const session = new OvsdbSession({
    endpoints: [endpoint],
    database: 'OVN_Northbound',
    tables: { NB_Global: ['name'] },
    readOnly: true,
    connectTimeoutMs: timeoutMs,
    ...options,
  });
  let problem: string | undefined;
  const failed = new Promise<void>((done) => {
    session.onError((error) => {
      problem ??= error.message;
      done();
    });
  });
  const late = new Promise<void>((done) => {
    setTimeout(() => {
      problem ??= `no answer in ${timeoutMs / 1_000} s`;
      done();
    }, timeoutMs).unref();
  });
  const givenUp = new Promise<void>((done) => {
    abandoned.addEventListener('abort', () => {
      problem ??= 'another way was faster';
      done();
    });
  });
  session.start();
  try {
    await Promise.race([session.untilSynced(), failed, late, givenUp]);
    return session.generation > 0 ? undefined : problem;
  } finally {
    await session.close();
  }
}
