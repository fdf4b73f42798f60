/** Runs in a namespace: `loopback-exit.mjs SOCKET PORT` leads connections to a Unix socket to 127.0.0.1:PORT. See host-forward.ts. */
import { connect, createServer } from 'node:net';

const [, , socket, port] = process.argv;
createServer((outer) => {
  const inner = connect(Number(port), '127.0.0.1');
  inner.pipe(outer).pipe(inner);
  for (const [one, other] of [
    [inner, outer],
    [outer, inner],
  ]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}).listen(socket);
