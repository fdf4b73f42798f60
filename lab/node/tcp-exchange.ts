/** Connections of TCP between network namespaces: a server that tells each client from which address it came. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { runProgram } from '../programs/run-program.ts';

type Command = (...program: readonly [string, ...string[]]) => readonly [string, ...string[]];

/** The port and the address are arguments, not part of the program. */
const SERVER = `require('net').createServer((client) => client.on('error', () => {}).end(client.remoteAddress))
  .listen(Number(process.argv[1]), '::', () => console.log('listens'))`;
const CLIENT = `require('net').connect(Number(process.argv[2]), process.argv[1])
  .on('error', (error) => console.log(error.code)).setTimeout(2000, () => process.exit()).pipe(process.stdout)`;

/** Starts a server; resolves when it listens. @returns ends it */
export async function serveClients(command: Command, port: number): Promise<() => Promise<void>> {
  const [program, ...args] = command(process.execPath, '-e', SERVER, String(port));
  const server = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(server.stdout, 'data');
  return async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGKILL');
    await once(server, 'exit');
  };
}

/** @returns what such a server answers: the address of the client, as IPv6 has it; or the code of an error; empty for silence of two seconds */
export async function askServer(command: Command, address: string, port: number): Promise<string> {
  return (await runProgram(command(process.execPath, '-e', CLIENT, address, String(port)))).trim();
}
