/** The lab's API server as a process of its own: `node run.ts <directory> <port>`; tells its parent when it serves. */
import { join } from 'node:path';
import { LabApiServer } from '../../../lab/apiserver/server.ts';

const [directory = '', port = '0', compactAfter = '200000'] = process.argv.slice(2);
const server = new LabApiServer({
  port: Number(port),
  dataDir: directory,
  stateDir: join(directory, 'state'),
  compactAfter: Number(compactAfter),
});
await server.start();
process.once('disconnect', () => process.exit());
process.send?.('serving');
