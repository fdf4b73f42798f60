/** Parses a request: the resource of its path, its query, its body. */
import type { IncomingHttpHeaders } from 'node:http';
import { decodeProtobuf } from './builtin/protobuf.ts';
import type { Json, JsonObject } from './json.ts';
import { goKindOf, isDeeper, isObject, MOST_LEVELS, parseJson, saidOfJson } from './json.ts';
import { ApiError, badRequest, unsupportedMediaType } from './status.ts';
import { parseYaml } from './yaml.ts';

export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
}

/** The part of a request that is read; Node's `IncomingMessage` fits. */
export interface RequestMessage extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** The parsed body, from a caller in the same process; the server may change it. */
  readonly whole?: Json;
}

const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** @returns undefined for a path that names no resource. */
export function parseTarget(path: string): ResourceTarget | undefined {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decodeURIComponent);
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

/** @returns undefined for an empty body @throws ApiError 413, 400, 415 */
export async function readValue(request: RequestMessage): Promise<Json | undefined> {
  if (request.whole !== undefined) return request.whole;
  const body = await readBody(request);
  return body.length === 0 ? undefined : decodeBody(body, mediaType(request));
}

/** @throws ApiError 413, 400 */
async function readBody(request: RequestMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > MAX_BODY_BYTES) throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

export function mediaType(request: RequestMessage): string {
  return (request.headers['content-type'] || 'application/json').split(';')[0]?.trim() ?? '';
}

const SERVED = /^application\/(?:json|yaml|vnd\.kubernetes\.protobuf)$/;

/** @throws ApiError 400 when the body is not of its type, 415 when the type is not supported. */
function decodeBody(body: Buffer, type: string): Json {
  if (!SERVED.test(type)) throw unknownFormat('');
  try {
    if (type.includes('protobuf')) return decodeProtobuf(body, builtinTypeOf);
    const text = body.toString('utf8');
    return type.includes('yaml') ? shallow(parseYaml(text)) : shallow(parseJson(text));
  } catch (error) {
    if (error instanceof RangeError) throw unknownFormat(` (${error.message})`);
    if (error instanceof ApiError) throw error;
    if (type.includes('yaml') && error instanceof SyntaxError) throw badRequest(error.message);
    throw badRequest(`couldn't get version/kind; json parse error: ${saidOfJson(error, body.toString('utf8'))}`);
  }
}

/** @throws ApiError 400 */
function shallow(value: Json): Json {
  if (isDeeper(value, MOST_LEVELS))
    throw badRequest(
      `couldn't get version/kind; json parse error: exceeded max depth: this laboratory API server reads ${MOST_LEVELS} levels`,
    );
  return value;
}

function unknownFormat(why: string): ApiError {
  return unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf${why}`,
  );
}

/** The type of a kind has the kind's name, except for kinds of several groups or versions. */
const TYPES: Readonly<Record<string, string>> = {
  'v1/Event': 'CoreV1Event',
  'events.k8s.io/v1/Event': 'EventsV1Event',
  'authentication.k8s.io/v1/TokenRequest': 'AuthenticationV1TokenRequest',
};

function builtinTypeOf(apiVersion: string, kind: string): string {
  return TYPES[`${apiVersion}/${kind}`] ?? kind;
}

const SHOWN_BYTES = 30;

/** @param kind the expected kind @throws ApiError 400, 415 */
export async function readObject(request: RequestMessage, kind = ''): Promise<JsonObject> {
  if (isObject(request.whole)) return request.whole;
  const body = await readBody(request);
  const unrecognized = (problem: string): ApiError =>
    badRequest(kind === '' ? problem : `the object provided is unrecognized (must be of type ${kind}): ${problem} (${beginningOf(body)})`);
  let value: Json;
  try {
    value = decodeBody(body, mediaType(request));
  } catch (error) {
    throw error instanceof ApiError && error.code === 400 ? unrecognized(error.message) : error;
  }
  const untyped = (what: string): ApiError => unrecognized(`couldn't get version/kind; json parse error: json: cannot unmarshal ${what}`);
  if (!isObject(value)) throw untyped(`${goKindOf(value)} into Go value of type struct`);
  for (const field of ['apiVersion', 'kind'])
    if (value[field] !== undefined && value[field] !== null && typeof value[field] !== 'string')
      throw untyped(`${goKindOf(value[field])} into Go struct field .${field} of type string`);
  return value;
}

/** The body of a patch of any type. @throws ApiError 400, 413 */
export async function readPatch(request: RequestMessage): Promise<() => Json> {
  const { whole } = request;
  if (whole !== undefined) return () => whole;
  const text = (await readBody(request)).toString('utf8');
  return () => {
    try {
      return shallow(parseJson(text));
    } catch (error) {
      throw error instanceof ApiError ? error : badRequest(saidOfJson(error, text));
    }
  };
}

function beginningOf(bytes: Buffer): string {
  if (bytes.length === 0) return '<empty>';
  const shown = bytes.subarray(0, SHOWN_BYTES);
  const text = shown[0] === 0x7b ? shown.toString('utf8') : shown.toString('hex');
  return bytes.length > SHOWN_BYTES ? `${text} ...` : text;
}
