/** What a request asks for: the resource its path names, its query, its body. */
import type { IncomingMessage } from 'node:http';
import { parse as parseYaml } from 'yaml';
import type { Json, JsonObject } from './json.ts';
import { isObject, parseJson } from './json.ts';
import { ApiError, badRequest, unsupportedMediaType } from './status.ts';

export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
}

const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** @returns undefined for a path that names no resource. */
export function parseTarget(path: string): ResourceTarget | undefined {
  const segments = path.split('/').filter((segment) => segment !== '').map(decodeURIComponent);
  const root = segments.shift();
  const group = root === 'apis' ? segments.shift() : root === 'api' ? '' : undefined;
  const version = segments.shift();
  if (group === undefined || version === undefined) return undefined;
  let namespace = '';
  if (segments[0] === 'namespaces' && segments.length > 2 && !(group === '' && (segments[2] === 'status' || segments[2] === 'finalize'))) {
    namespace = segments[1] ?? '';
    segments.splice(0, 2);
  }
  const [plural, name = '', subresource = '', ...rest] = segments;
  if (plural === undefined || rest.length > 0) return undefined;
  return { group, version, namespace, plural, name, subresource };
}

/** @throws ApiError 413, 400 */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MAX_BODY_BYTES) throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function mediaType(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim() ?? '';
}

/** @throws ApiError 400 when the text is neither JSON nor, where that is its type, YAML. */
export function decodeText(text: string, type: string): Json {
  if (type.includes('protobuf')) {
    throw unsupportedMediaType('the body of the request was in an unknown format - accepted media types include: application/json, application/yaml');
  }
  try {
    return type.includes('yaml') ? (parseYaml(text, { intAsBigInt: false }) as Json) : parseJson(text);
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** @throws ApiError 400 */
export async function readObject(request: IncomingMessage): Promise<JsonObject> {
  const value = decodeText(await readBody(request), mediaType(request));
  if (!isObject(value)) throw badRequest("couldn't get version/kind; json parse error: json: cannot unmarshal into Go value of type struct");
  return value;
}
