/** The schemas of the built-in kinds, linked from `types.json`. */
import types from './types.json' with { type: 'json' };
import type { Schema } from '../schema/schema.ts';

const FIELDS = types as Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Lists that a strategic merge patch merges: `Type.field` to the merge key (`''`: a set of scalars). */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  'ObjectMeta.finalizers': '',
  'ObjectMeta.ownerReferences': 'uid',
  'PodSpec.containers': 'name',
  'PodSpec.initContainers': 'name',
  'PodSpec.ephemeralContainers': 'name',
  'PodSpec.volumes': 'name',
  'PodSpec.imagePullSecrets': 'name',
  'PodSpec.hostAliases': 'ip',
  'PodSpec.topologySpreadConstraints': 'topologyKey',
  'PodSpec.schedulingGates': 'name',
  'PodSpec.resourceClaims': 'name',
  'PodStatus.conditions': 'type',
  'PodStatus.podIPs': 'ip',
  'PodStatus.hostIPs': 'ip',
  'PodStatus.resourceClaimStatuses': 'name',
  'Container.env': 'name',
  'Container.ports': 'containerPort',
  'Container.volumeMounts': 'mountPath',
  'Container.volumeDevices': 'devicePath',
  'EphemeralContainer.env': 'name',
  'EphemeralContainer.ports': 'containerPort',
  'EphemeralContainer.volumeMounts': 'mountPath',
  'EphemeralContainer.volumeDevices': 'devicePath',
  'NodeSpec.podCIDRs': '',
  'NodeStatus.addresses': 'type',
  'NodeStatus.conditions': 'type',
  'NamespaceStatus.conditions': 'type',
  'ServiceSpec.ports': 'port',
  'ServiceStatus.conditions': 'type',
  'ServiceAccount.secrets': 'name',
  'DeploymentStatus.conditions': 'type',
  'ReplicaSetStatus.conditions': 'type',
  'StatefulSetStatus.conditions': 'type',
  'DaemonSetStatus.conditions': 'type',
  'PodDisruptionBudgetStatus.conditions': 'type',
  'ValidatingWebhookConfiguration.webhooks': 'name',
};

const RETAIN_KEYS = new Set(['PodSpec.volumes', 'DeploymentSpec.strategy']);

const linked = new Map<string, Schema>();

/** @param name a type of `types.json`, such as `Pod` or `ObjectMeta`. */
export function builtinSchema(name: string): Schema {
  const known = linked.get(name);
  if (known !== undefined) return known;
  const fields = FIELDS[name];
  if (fields === undefined) throw new Error(`no built-in type ${name}`);
  const schema: Schema = { name, type: 'object', properties: new Map() };
  linked.set(name, schema);
  const required: string[] = [];
  for (const [field, described] of Object.entries(fields)) {
    if (described.endsWith('!')) required.push(field);
    schema.properties?.set(field, withPatchRules(`${name}.${field}`, fieldSchema(described.replace('!', ''))));
  }
  if (required.length > 0) schema.required = required;
  return schema;
}

/** References to types stay shared objects, since types may be cyclic; only fields with patch rules of their own are copies. */
function withPatchRules(field: string, schema: Schema): Schema {
  const mergeKey = MERGE_KEYS[field];
  const keyed = mergeKey === undefined ? schema : { ...schema, patchMergeKey: mergeKey };
  if (!RETAIN_KEYS.has(field)) return keyed;
  return keyed.items === undefined ? { ...keyed, retainKeys: true } : { ...keyed, items: { ...keyed.items, retainKeys: true } };
}

function fieldSchema(described: string): Schema {
  if (described.startsWith('[]')) return { type: 'array', items: fieldSchema(described.slice(2)) };
  if (described.startsWith('{}')) return { type: 'object', additionalProperties: fieldSchema(described.slice(2)) };
  switch (described) {
    case 'string':
    case 'boolean':
      return { type: described };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: described };
    case 'double':
      return { type: 'number', format: 'double' };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'time':
      return { type: 'string', format: 'date-time' };
    case 'microtime':
      return { type: 'string', format: 'micro-time' };
    case 'quantity':
      return { type: 'string', format: 'quantity' };
    case 'intOrString':
      return { intOrString: true };
    case 'any':
      return { preserveUnknownFields: true };
    default:
      return builtinSchema(described);
  }
}
