/** One real Northbound database for all tests of a file: started before the first, stopped after the last. */
import { after, before } from 'node:test';
import type { RowOwner, RowOutput } from '../../compile/output.ts';
import { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { WriterProcess } from './writer-process.ts';

export interface SharedNorthbound {
  /** A new writer, not started. */
  readonly writer: () => WriterProcess;
  readonly nbctl: (...args: string[]) => Promise<string>;
  /** `kill -9`; committed transactions persist. */
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

export function sharedNorthbound(): SharedNorthbound {
  let server: OvsdbServerProcess;
  before(async () => {
    server = await OvsdbServerProcess.start();
  });
  after(async () => {
    await server.stop();
  });
  return {
    writer: () => new WriterProcess(server),
    nbctl: (...args) => server.nbctl(...args),
    kill: () => server.kill(),
    restart: () => server.restart(),
  };
}

/** Makes row outputs as rules emit them. */
export function rowsOf(owner: RowOwner): (id: RowOutput['id'], columns: RowOutput['columns'], parent?: RowOutput['parent']) => RowOutput {
  return (id, columns, parent) => ({ kind: 'row', id, owner, rule: 'test', columns, ...(parent === undefined ? {} : { parent }) });
}
