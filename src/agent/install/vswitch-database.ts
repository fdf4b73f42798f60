/** Makes the database of Open vSwitch on a node, or brings it to the schema of the release that is to run, before its server starts. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Programs } from '../kernel/programs.ts';
import { isServed } from '../requests/is-served.ts';

export interface VswitchDatabaseOptions {
  readonly database: string;
  readonly schema: string;
  /** Where its server will listen. */
  readonly socket: string;
}

/**
 * @returns what was done, for the log
 * @throws Error if another Open vSwitch runs on the node, or a tool fails
 */
export async function prepareVswitchDatabase(
  { database, schema, socket }: VswitchDatabaseOptions,
  programs: Pick<Programs, 'run'>,
): Promise<string> {
  if (await isServed(socket))
    throw new Error(
      `another Open vSwitch of this node serves ${socket}: two cannot share its devices. Either stop that one, or keep it, with an ovn-controller ` +
        'of the node, and label the Node kiln.io/ovs=host',
    );
  const tool = async (...args: readonly string[]): Promise<string> => {
    const ran = await programs.run(['ovsdb-tool', ...args]);
    if (!ran.ok) throw new Error(`ovsdb-tool ${args.join(' ')}: ${ran.message}`);
    return ran.output.trim();
  };
  if (existsSync(database)) {
    if ((await tool('needs-conversion', database, schema)) !== 'yes') return `${database} is there`;
    await tool('convert', database, schema);
    return `${database} has the schema of ${schema} now`;
  }
  await mkdir(dirname(database), { recursive: true });
  await tool('create', database, schema);
  // ovs-vswitchd waits for its row.
  await tool('transact', database, JSON.stringify(['Open_vSwitch', { op: 'insert', table: 'Open_vSwitch', row: {} }]));
  return `${database} was created`;
}
