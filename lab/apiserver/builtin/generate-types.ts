/**
 * Writes `types.json`: the fields of the built-in kinds, read from the official client library's type descriptions.
 *
 * Run by hand when the library moves to a newer API: `node lab/apiserver/builtin/generate-types.ts`.
 * One entry for each type, one string for each field: the type's name, prefixed with `[]` for lists and `{}` for maps, followed by `!` if
 * required.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOTS = [
  'V1Namespace',
  'V1Pod',
  'V1Node',
  'V1ConfigMap',
  'V1Secret',
  'V1Service',
  'V1Endpoints',
  'V1ServiceAccount',
  'CoreV1Event',
  'EventsV1Event',
  'V1Lease',
  'V1NetworkPolicy',
  'V1Deployment',
  'V1ReplicaSet',
  'V1StatefulSet',
  'V1DaemonSet',
  'V1ControllerRevision',
  'V1PodDisruptionBudget',
  'V1EndpointSlice',
  'V1CustomResourceDefinition',
  'V1SelfSubjectAccessReview',
  'V1SelfSubjectRulesReview',
  'V1SubjectAccessReview',
  'V1ValidatingWebhookConfiguration',
  'V1ClusterRole',
  'V1ClusterRoleBinding',
  'V1Role',
  'V1RoleBinding',
  'V1Binding',
  'V1Eviction',
  'V1Scale',
  'V1DeleteOptions',
  'V1Status',
  'V1WatchEvent',
  'V1TokenReview',
  'AuthenticationV1TokenRequest',
];

/** Fields that hold resource quantities, which the library describes as plain strings. */
const QUANTITIES = new Set([
  'V1ResourceRequirements.limits',
  'V1ResourceRequirements.requests',
  'V1VolumeResourceRequirements.limits',
  'V1VolumeResourceRequirements.requests',
  'V1NodeStatus.capacity',
  'V1NodeStatus.allocatable',
  'V1PodSpec.overhead',
  'V1EmptyDirVolumeSource.sizeLimit',
  'V1ResourceFieldSelector.divisor',
  'V1ContainerStatus.allocatedResources',
]);

interface Attribute {
  readonly name: string;
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}

const models = new URL('models/', import.meta.resolve('@kubernetes/client-node').replace(/dist\/index\.js$/, 'dist/gen/'));

function scalar(type: string, format: string): string | undefined {
  if (type === 'string') return format === 'byte' ? 'bytes' : 'string';
  if (type === 'number') return format === 'int64' ? 'int64' : format === 'double' ? 'double' : 'int32';
  if (type === 'boolean') return 'boolean';
  if (type === 'Date') return 'time';
  if (type === 'V1MicroTime') return 'microtime';
  if (type === 'IntOrString') return 'intOrString';
  if (type === 'any' || type === 'object') return 'any';
  return undefined;
}

const types = new Map<string, Record<string, string>>();

function describe(type: string, format: string, quantity: boolean): string {
  const list = /^(?:Array|Set)<(.*)>$/.exec(type);
  if (list?.[1] !== undefined) return `[]${describe(list[1], format, quantity)}`;
  const map = /^\{ \[key: string\]: (.*); \}$/.exec(type);
  if (map?.[1] !== undefined) return `{}${describe(map[1], format, quantity)}`;
  if (quantity) return 'quantity';
  const plain = scalar(type, format);
  if (plain !== undefined) return plain;
  collect(type);
  return shortName(type);
}

function shortName(type: string): string {
  if (type === 'CoreV1Event' || type === 'EventsV1Event') return type;
  return type.replace(/^V1(?=[A-Z])/, '');
}

function collect(type: string): void {
  if (types.has(shortName(type))) return;
  const fields: Record<string, string> = {};
  types.set(shortName(type), fields);
  const source = readFileSync(fileURLToPath(new URL(`${type}.js`, models)), 'utf8');
  const declarations = readFileSync(fileURLToPath(new URL(`${type}.d.ts`, models)), 'utf8');
  const table = /attributeTypeMap = (\[[\s\S]*?\n\]);/.exec(source)?.[1] ?? '[]';
  for (const attribute of JSON.parse(table) as Attribute[]) {
    const required = declarations.includes(`'${attribute.name}':`);
    const described = describe(attribute.type, attribute.format, QUANTITIES.has(`${type}.${attribute.name}`));
    fields[attribute.baseName] = described + (required ? '!' : '');
  }
}

for (const root of ROOTS) collect(root);
const lines = [...types]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, fields]) => `  ${JSON.stringify(name)}: ${JSON.stringify(fields)}`);
writeFileSync(new URL('types.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`);
