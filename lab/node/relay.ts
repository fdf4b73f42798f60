import type { Socket } from 'node:net';

/** Each of two sockets gets what the other sends; the end of one ends the other. */
export function relay(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  for (const [socket, peer] of [
    [one, other],
    [other, one],
  ] as const) {
    socket.on('error', () => peer.destroy());
    socket.on('close', () => peer.destroy());
  }
}
