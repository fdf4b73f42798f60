/**
 * Writes `protobuf-fields.json`: the field numbers of the built-in types, read from the Go sources of `k8s.io/api`.
 *
 * Run by hand: `node lab/apiserver/builtin/generate-protobuf.ts <folder that holds k8s.io>`. A field is its JSON name, prefixed with `*` if
 * Go has a pointer (then a zero is a value, not an absence); a field whose members are inlined into its parent is an object of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import types from './types.json' with { type: 'json' };

const PACKAGES: readonly (readonly [path: string, prefix: string])[] = [
  ['api/core/v1', 'CoreV1'],
  ['api/apps/v1', ''],
  ['api/rbac/v1', 'RbacV1'],
  ['api/networking/v1', ''],
  ['api/coordination/v1', ''],
  ['api/policy/v1', ''],
  ['api/discovery/v1', 'DiscoveryV1'],
  ['api/events/v1', 'EventsV1'],
  ['api/autoscaling/v1', ''],
  ['api/authentication/v1', 'AuthenticationV1'],
  ['api/authorization/v1', ''],
  ['api/admissionregistration/v1', 'AdmissionregistrationV1'],
  ['apimachinery/pkg/apis/meta/v1', ''],
];

type Fields = { [number: string]: string | Fields };

const known = new Set(Object.keys(types));
const result: Record<string, Fields> = {};

for (const [path, prefix] of PACKAGES) {
  const source = readFileSync(join(argv[2] ?? '.', 'k8s.io', path, 'types.go'), 'utf8');
  const structs = new Map<string, string>();
  for (const match of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) structs.set(match[1] ?? '', match[2] ?? '');
  const read = (body: string): Fields => {
    const fields: Fields = {};
    for (const match of body.matchAll(/^\s+(?:\w+\s+)?([^\s`]+)\s+`json:"([^"]*)"[^`]*? protobuf:"\w+,(\d+)/gm)) {
      const [, type = '', json = '', number = ''] = match;
      const [name = '', ...flags] = json.split(',');
      if (flags.includes('inline') && name === '') {
        const inlined = structs.get(type);
        if (inlined !== undefined) fields[number] = read(inlined);
      } else fields[number] = (type.startsWith('*') ? '*' : '') + name;
    }
    return fields;
  };
  for (const [name, body] of structs) {
    const typeName = prefix !== '' && known.has(prefix + name) ? prefix + name : name;
    if (known.has(typeName)) result[typeName] ??= read(body);
  }
}
const lines = Object.entries(result)
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, fields]) => `  ${JSON.stringify(name)}: ${JSON.stringify(fields)}`);
writeFileSync(new URL('protobuf-fields.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`);
