/** One HTTPS call of a webhook, with its timeout. */
import { request } from 'node:https';
import type { Credential } from '../../../src/certificates/authority.ts';
import type { Json, JsonObject } from '../json.ts';
import { at, parseJson, text } from '../json.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * @param client the certificate for a webhook that requires one
 * @throws Error if there is no answer; its message has the API server's wording
 */
export async function callWebhook(webhook: JsonObject, review: JsonObject, client: Credential): Promise<Json> {
  const address = text(at(webhook, 'clientConfig', 'url'));
  if (address === '') throw new Error('a webhook behind a Service cannot be reached in this laboratory: give clientConfig.url');
  const seconds = Number(webhook['timeoutSeconds'] ?? 10);
  const url = new URL(address);
  url.searchParams.set('timeout', `${seconds}s`);
  try {
    return await post(url, text(at(webhook, 'clientConfig', 'caBundle')), JSON.stringify(review), seconds * 1000, client);
  } catch (error) {
    if (error instanceof RefusedAnswer) throw error;
    throw new Error(`Post ${JSON.stringify(url.href)}: ${reason(error, url)}`, { cause: error });
  }
}

/** The webhook answered, but the answer is unusable. */
class RefusedAnswer extends Error {}

function reason(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || ('code' in error && error.code === 'ABORT_ERR')) return 'context deadline exceeded';
  if ('code' in error && error.code === 'ECONNREFUSED') return `dial tcp ${url.host}: connect: connection refused`;
  return error.message;
}

async function post(url: URL, authority: string, body: string, milliseconds: number, client: Credential): Promise<Json> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) },
        cert: client.certificate,
        key: client.key,
        signal: AbortSignal.timeout(milliseconds),
        ...(authority === '' ? {} : { ca: Buffer.from(authority, 'base64') }),
      },
      (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) outgoing.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        answer.once('error', reject);
        answer.once('end', () => {
          const body = Buffer.concat(chunks).toString('utf8');
          if (answer.statusCode !== 200) {
            reject(
              new RefusedAnswer(
                `an error on the server (${JSON.stringify(body)}, status ${String(answer.statusCode)}) has prevented the request from succeeding`,
              ),
            );
            return;
          }
          try {
            resolve(parseJson(body));
          } catch (error) {
            reject(new RefusedAnswer(error instanceof Error ? error.message : String(error)));
          }
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
