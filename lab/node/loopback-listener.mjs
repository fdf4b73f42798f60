/** Runs in a namespace: `loopback-listener.mjs PORT SOCKET` leads connections to 127.0.0.1:PORT to a Unix socket. See loopback-forward.ts. */
import { connect, createServer } from 'node:net';

const [, , port, socket] = process.argv;
createServer((inner) => {
  const outer = connect(socket);
  inner.pipe(outer).pipe(inner);
  for (const [one, other] of [
    [inner, outer],
    [outer, inner],
  ]) {
    one.on('error', () => other.destroy());
    one.on('close', () => other.destroy());
  }
}).listen(Number(port), '127.0.0.1');
