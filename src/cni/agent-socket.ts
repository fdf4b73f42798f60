import { connect } from 'node:net';

/** The agent's answer; `unreachable` when there is none: no socket, nothing listens, or no answer in time. */
export type Answer =
  { readonly kind: 'answer'; readonly status: number; readonly body: string } | { readonly kind: 'unreachable'; readonly reason: string };

/** An answer is some kilobytes. */
const MOST_BYTES = 1024 * 1024;

/**
 * Sends one request over the socket, as HTTP/1.0: the answer ends with the connection. Not with `node:http`, which takes half of the time
 * that the whole program needs.
 *
 * @param path such as `/api/v1/add`
 * @param timeoutMs of the whole request
 */
export async function ask(socketPath: string, path: string, body: object, timeoutMs: number): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = ['host: kiln-agent', 'content-type: application/json', `content-length: ${Buffer.byteLength(text)}`, 'connection: close'];
  return await new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const socket = connect(socketPath);
    const timer = setTimeout(() => socket.destroy(new Error(`no answer after ${timeoutMs / 1000} s`)), timeoutMs);
    socket.on('data', (chunk) => {
      size += chunk.length;
      if (size > MOST_BYTES) socket.destroy(new Error('its answer is too long'));
      else chunks.push(chunk);
    });
    let reason = '';
    socket.on('error', (error) => (reason = error.message));
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(reason === '' ? answerOf(Buffer.concat(chunks)) : { kind: 'unreachable', reason });
    });
    socket.write(`POST ${path} HTTP/1.0\r\n${headers.join('\r\n')}\r\n\r\n${text}`);
  });
}

function answerOf(bytes: Buffer): Answer {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, Math.max(0, end)).toString('latin1');
  const status = /^HTTP\/1\.\d (\d{3})/.exec(head)?.[1];
  if (end < 0 || status === undefined) return { kind: 'unreachable', reason: 'the connection ended without an answer' };
  const body = bytes.subarray(end + 4);
  const length = /^content-length: *(\d+)\s*$/im.exec(head)?.[1];
  if (length !== undefined && body.length < Number(length))
    return { kind: 'unreachable', reason: 'the connection ended within the answer' };
  return { kind: 'answer', status: Number(status), body: body.toString('utf8') };
}
