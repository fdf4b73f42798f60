/** JSON Patch (RFC 6902). */
import type { Json, JsonObject } from '../json.ts';
import { clone, equal, goKindOf, isObject } from '../json.ts';
import { ApiError, badRequest } from '../status.ts';

const MAX_OPERATIONS = 10_000;
/** The maximum size, as JSON, of all copies of one patch: each copy may double the object. */
const MAX_COPIED_BYTES = 3 * 1024 * 1024;

/**
 * @param target is changed in place where possible.
 * @throws ApiError 400 for an invalid patch, 422 for an operation that does not apply.
 */
export function applyJsonPatch(target: Json, patch: Json): Json {
  if (!Array.isArray(patch))
    throw badRequest(`error decoding patch: json: cannot unmarshal ${goKindOf(patch)} into Go value of type []handlers.jsonPatchOp`);
  if (patch.length > MAX_OPERATIONS)
    throw new ApiError(
      413,
      'RequestEntityTooLarge',
      `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    );
  const root: Patched = { document: target, copied: 0 };
  for (const operation of patch) {
    if (!isObject(operation)) throw badRequest('error decoding patch: json: cannot unmarshal into Go value of type jsonpatch.Operation');
    applyOperation(root, operation);
  }
  return root.document;
}

interface Patched {
  document: Json;
  /** Bytes of all copies so far. */
  copied: number;
}

function applyOperation(root: Patched, operation: JsonObject): void {
  const kind = operation['op'];
  const path = pointer(operation['path'], String(kind));
  switch (kind) {
    case 'add':
      return add(root, path, clone(valueOf(operation)));
    case 'remove':
      return void remove(root, path, 'remove');
    case 'replace':
      if (path.length > 0) read(root.document, path, 'replace');
      if (path.length === 0) root.document = clone(valueOf(operation));
      else write(root, path, clone(valueOf(operation)));
      return;
    case 'move':
      return add(root, path, remove(root, pointer(operation['from'], 'move'), 'move'));
    case 'copy':
      return add(root, path, copied(root, read(root.document, pointer(operation['from'], 'copy'), 'copy')));
    case 'test': {
      const found = lookup(root.document, path);
      if (!equal(found ?? null, operation['value'] ?? null)) throw fails(`testing value ${shown(path)} failed: test failed`);
      return;
    }
    default:
      throw fails(`Unexpected kind: ${String(kind)}`);
  }
}

function copied(root: Patched, value: Json): Json {
  root.copied += Buffer.byteLength(JSON.stringify(value));
  if (root.copied > MAX_COPIED_BYTES)
    throw fails(`copy operation does not apply: the copies weigh ${root.copied} bytes, more than ${MAX_COPIED_BYTES}`);
  return clone(value);
}

function valueOf(operation: JsonObject): Json {
  return operation['value'] ?? null;
}

function pointer(value: Json | undefined, operation: string): string[] {
  if (typeof value !== 'string' || (value !== '' && !value.startsWith('/')))
    throw fails(`${operation} operation does not apply: the path ${JSON.stringify(value ?? null)} is no JSON pointer`);
  return value
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function shown(path: readonly string[]): string {
  return `/${path.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`;
}

function lookup(document: Json, path: readonly string[]): Json | undefined {
  let here: Json | undefined = document;
  for (const part of path) {
    if (Array.isArray(here)) here = /^(?:0|[1-9]\d*)$/.test(part) ? here[Number(part)] : undefined;
    else here = isObject(here) && Object.hasOwn(here, part) ? here[part] : undefined;
    if (here === undefined) return undefined;
  }
  return here;
}

function read(document: Json, path: readonly string[], operation: string): Json {
  const found = lookup(document, path);
  if (found === undefined)
    throw fails(
      `${operation} operation does not apply: doc is missing ${operation === 'replace' ? 'key' : 'path'}: ${shown(path)}: missing value`,
    );
  return found;
}

function parentOf(root: Patched, path: readonly string[], operation: string): Json[] | JsonObject {
  const parent = lookup(root.document, path.slice(0, -1));
  if (Array.isArray(parent) || isObject(parent)) return parent;
  throw fails(`${operation} operation does not apply: doc is missing path: ${JSON.stringify(shown(path))}: missing value`);
}

function add(root: Patched, path: readonly string[], value: Json): void {
  if (path.length === 0) {
    root.document = value;
    return;
  }
  const parent = parentOf(root, path, 'add');
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : arrayIndex(last, parent.length, 'add');
    parent.splice(index, 0, value);
  } else parent[last] = value;
}

function write(root: Patched, path: readonly string[], value: Json): void {
  const parent = parentOf(root, path, 'replace');
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent[Number(last)] = value;
  else parent[last] = value;
}

function remove(root: Patched, path: readonly string[], operation: string): Json {
  const parent = parentOf(root, path, operation);
  const last = path.at(-1) ?? '';
  const value = lookup(parent, [last]);
  if (value === undefined) throw fails(`${operation} operation does not apply: Unable to remove nonexistent key: ${last}: missing value`);
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return value;
}

function arrayIndex(part: string, length: number, operation: string): number {
  const index = Number(part);
  if (!/^\d+$/.test(part) || index > length)
    throw fails(`${operation} operation does not apply: Unable to access invalid index: ${part}: invalid index referenced`);
  return index;
}

function fails(message: string): ApiError {
  return Object.assign(new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {}), {
    cause: message,
  });
}
