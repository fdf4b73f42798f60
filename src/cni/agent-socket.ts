import { request } from 'node:http';

/** The agent's answer; `unreachable` when there is none: no socket, nothing listens, or no answer in time. */
export type Answer =
  { readonly kind: 'answer'; readonly status: number; readonly body: string } | { readonly kind: 'unreachable'; readonly reason: string };

/** An answer is some kilobytes. */
const MOST_BYTES = 1024 * 1024;

/**
 * Sends one request over the socket.
 *
 * @param path such as `/api/v1/add`
 * @param timeoutMs of the whole request
 */
export async function ask(socketPath: string, path: string, body: object, timeoutMs: number): Promise<Answer> {
  const text = JSON.stringify(body);
  return await new Promise((resolve) => {
    const unreachable = (error: Error): void => resolve({ kind: 'unreachable', reason: error.message });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), connection: 'close' };
    const sent = request(
      { socketPath, path, method: 'POST', host: 'kiln-agent', headers, signal: AbortSignal.timeout(timeoutMs) },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MOST_BYTES) response.destroy(new Error('its answer is too long'));
          else chunks.push(chunk);
        });
        response.on('error', unreachable);
        response.on('end', () =>
          resolve({ kind: 'answer', status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
        );
      },
    );
    sent.on('error', unreachable);
    sent.end(text);
  });
}
