/** ConfigMaps and Secrets: valid keys, the keys that a type of Secret requires, and immutability. */
import type { JsonObject } from '../json.ts';
import { equal, isObject, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue, required } from '../status.ts';

/** A key of a ConfigMap or a Secret. */
export const CONFIG_KEY = /^[-._a-zA-Z0-9]+$/;
export const CONFIG_KEY_RULE =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const ACCOUNT = 'kubernetes.io/service-account.name';
/** Keys that a type requires, all of them. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
};
/** Types that require at least one of these keys. */
const EITHER: Readonly<Record<string, readonly string[]>> = { 'kubernetes.io/basic-auth': ['username', 'password'] };

function keyErrors(item: JsonObject, ...fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) =>
    Object.keys(object(item[field]))
      .filter((key) => !CONFIG_KEY.test(key))
      .map((key) => invalidValue(`${field}[${key}]`, key, CONFIG_KEY_RULE)),
  );
}

const MOST_BYTES = 1024 * 1024;

function sizeErrors(field: string, texts: readonly unknown[], encoded: readonly unknown[]): FieldError[] {
  const plain = texts.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0);
  const size = encoded.reduce<number>((sum, value) => sum + Buffer.byteLength(String(value), 'base64'), plain);
  return size > MOST_BYTES ? [{ type: 'TooLong', field, message: `Too long: may not be more than ${MOST_BYTES} bytes` }] : [];
}

/** An immutable object keeps its data, and stays immutable. */
function changedErrors(item: KubeObject, old: KubeObject | undefined, ...fields: readonly string[]): FieldError[] {
  if (old?.['immutable'] !== true) return [];
  const changed = fields.filter((field) => !equal(object(item[field]), object(old[field])));
  return [...(item['immutable'] === true ? [] : ['immutable']), ...changed].map((field) =>
    forbiddenField(field, 'field is immutable when `immutable` is set'),
  );
}

function typeErrors({ metadata, ...secret }: KubeObject): FieldError[] {
  const type = text(secret['type']);
  const data = object(secret['data']);
  const missing = (NEEDED[type] ?? []).filter((key) => data[key] === undefined);
  if (missing.length > 0) return missing.map((key) => required(`data[${key}]`));
  const either = EITHER[type] ?? [];
  if (either.length > 0 && either.every((key) => data[key] === undefined)) return either.map((key) => required(`data[${key}]`));
  if (type === 'kubernetes.io/service-account-token' && text(metadata.annotations?.[ACCOUNT]) === '')
    return [required(`metadata.annotations[${ACCOUNT}]`)];
  const [key = ''] = type.startsWith('kubernetes.io/dockerc') ? (NEEDED[type] ?? []) : [];
  if (key === '') return [];
  try {
    JSON.parse(Buffer.from(text(data[key]), 'base64').toString('utf8'));
    return [];
  } catch {
    return [invalidValue(`data[${key}]`, '<secret contents redacted>', 'unexpected end of JSON input')];
  }
}

export const secrets: Strategy = {
  applyDefaults: (secret) => {
    secret['type'] ??= 'Opaque';
    const plain = secret['stringData'];
    if (!isObject(plain)) return;
    const data = object(secret['data']);
    for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(String(value)).toString('base64');
    secret['data'] = data;
    delete secret['stringData'];
  },
  validate: (secret, old) => [
    ...keyErrors(secret, 'data'),
    ...sizeErrors('data', [], Object.values(object(secret['data']))),
    ...typeErrors(secret),
    ...(old !== undefined && secret['type'] !== old['type'] ? [invalidValue('type', secret['type'], 'field is immutable')] : []),
    ...changedErrors(secret, old, 'data'),
  ],
};

export const configMaps: Strategy = {
  validate: (map, old) => [
    ...keyErrors(map, 'data', 'binaryData'),
    ...sizeErrors('[]', Object.values(object(map['data'])), Object.values(object(map['binaryData']))),
    ...Object.keys(object(map['data']))
      .filter((key) => key in object(map['binaryData']))
      .map((key) => invalidValue(`data[${key}]`, key, 'duplicate of key present in binaryData')),
    ...changedErrors(map, old, 'data', 'binaryData'),
  ],
};
