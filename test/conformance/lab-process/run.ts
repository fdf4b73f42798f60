/** Runs the lab's API server as a separate process: `node run.ts <directory> <port>`. It sends its parent a message once it serves. */
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
