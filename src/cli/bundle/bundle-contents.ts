/**
 * Which parts of each object, row, Event and log line an archive for support contains: the fields that Kube-OVN's
 * and Kiln's contract names. Of other annotations, labels and settings of rows it contains the key only, and of
 * other fields nothing. Contained texts may quote tenants: the parts with a format of the contract stay; of other
 * texts, only the length.
 */
import { componentOf } from '../../api/kube-ovn-events.ts';
import { POD_ANNOTATIONS } from '../../api/annotations.ts';
import { CONDITION_TYPES } from '../../api/condition-types.ts';
import { allKinds } from '../../api/kinds/crds.ts';
import type { SchemaNode } from '../../api/schema/schema.ts';
import { annotationKey, CONTROLLER_LEASE, kilnAnnotation, labelKey, MIGRATION_JOB_LABEL } from '../../api/well-known.ts';
import type { ColumnMode } from '../../nb/tables.ts';
import { kindOfField, writtenValue } from '../../runtime/log-fields.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { withheld, withPlainWords } from '../../text/plain-words.ts';
import { visibleLines } from '../../text/visible-text.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { KnownNames } from './archive-texts.ts';
import { archivedProse, archivedText, beginsAsOurs, isOwnReason } from './archive-texts.ts';

/** Replaces a value that support does not need. */
export const DROPPED = '[dropped]';

type Fields = Readonly<Record<string, unknown>>;

const METADATA = ['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp', 'finalizers'];
const OWNER = ['apiVersion', 'kind', 'name', 'uid', 'controller'];
const ANNOTATIONS: ReadonlySet<string> = new Set([...Object.values(annotationKey), ...Object.values(kilnAnnotation)]);
const LABELS: ReadonlySet<string> = new Set([
  ...[...Object.values(labelKey), MIGRATION_JOB_LABEL],
  ...['kubernetes.io/metadata.name', 'kubernetes.io/hostname', 'app.kubernetes.io/name'],
]);
/** Annotations of the Lease, which no tenant writes. */
const OF_LEASE: ReadonlySet<string> = new Set([
  ...[kilnAnnotation.version, kilnAnnotation.settings, kilnAnnotation.northboundRefusal, kilnAnnotation.northboundLoss],
  kilnAnnotation.journalFailure,
  kilnAnnotation.collectionPause,
]);
/** `<provider>.kubernetes.io/<suffix>`, and `….<interface>` for one of several interfaces of the same attachment. */
const OF_INTERFACE = new RegExp(
  `^[a-z0-9.-]{1,253}\\.kubernetes\\.io/(?:${Object.keys(POD_ANNOTATIONS).join('|')})(?:\\.[A-Za-z0-9_-]{1,15})?$`,
);

const object = (properties: Readonly<Record<string, SchemaNode>>): SchemaNode => ({ type: 'object', properties });
const list = (items: SchemaNode): SchemaNode => ({ type: 'array', items });
const text: SchemaNode = { type: 'string' };
const number: SchemaNode = { type: 'integer' };
const truth: SchemaNode = { type: 'boolean' };
const conditions = list(object({ type: text, status: text, reason: text, message: text, lastTransitionTime: text }));
const networks = list(object({ multus: object({ networkName: text }) }));

/** The fields that rules read of kinds other than Kube-OVN's. */
const SHAPES: Readonly<Partial<Record<ResourceName, { readonly spec?: SchemaNode; readonly status?: SchemaNode }>>> = {
  pods: {
    spec: object({ nodeName: text, hostNetwork: truth, restartPolicy: text, terminationGracePeriodSeconds: number }),
    status: object({ phase: text, reason: text, conditions }),
  },
  nodes: { status: object({ addresses: list(object({ type: text, address: text })), conditions }) },
  namespaces: { status: object({ phase: text }) },
  statefulsets: { spec: object({ replicas: number, ordinals: object({ start: number }) }) },
  virtualmachines: { spec: object({ template: object({ spec: object({ networks }) }) }) },
  virtualmachineinstances: {
    spec: object({ networks }),
    status: object({ migrationState: object({ migrationUid: text, completed: truth, failed: truth }) }),
  },
  virtualmachineinstancemigrations: { spec: object({ vmiName: text }), status: object({ phase: text }) },
};

/** The part of an object that the archive contains. */
export function archivedObject(resource: ResourceName, { metadata, spec, status }: Fields, names: KnownNames): Fields {
  const own = traitsOf(resource).group === 'kubeovn.io' ? allKinds.find(({ plural }) => plural === resource) : undefined;
  const shape = own === undefined ? (SHAPES[resource] ?? {}) : { spec: own.spec.node, status: own.status?.node };
  const template = fieldsOf(fieldsOf(fieldsOf(spec)['template'])['metadata'])['annotations'];
  return {
    kind: traitsOf(resource).kind,
    metadata: archivedMetadata(metadata, names),
    ...(shape.spec === undefined ? {} : { spec: pruned(shape.spec, spec, names) }),
    ...(resource === 'network-attachment-definitions' ? { spec: { config: archivedConfig(fieldsOf(spec)['config'], names) } } : {}),
    ...(template === undefined ? {} : { template: { annotations: archivedAnnotations(template, names) } }),
    ...(shape.status === undefined ? {} : { status: archivedStatus(pruned(shape.status, status, names), names) }),
  };
}

export function archivedLease({ metadata, spec }: Fields, names: KnownNames): Fields {
  const fields = ['holderIdentity', 'leaseDurationSeconds', 'acquireTime', 'renewTime', 'leaseTransitions'];
  return { metadata: archivedMetadata(metadata, names), spec: only(spec, fields) };
}

/** Undefined for an Event that Kiln does not write: of another program, or with an unknown reason. */
export function archivedEvent(event: Fields, names: KnownNames): Fields | undefined {
  const { component } = fieldsOf(event['source']);
  const { reportingComponent, reason, message } = event;
  if (!isOwnReason(reason)) return undefined;
  const source = componentOf(String(reason)) ?? CONTROLLER_LEASE;
  if (![component, reportingComponent].includes(source)) return undefined;
  const text = typeof message === 'string' ? message : '';
  const [, cause = ''] = /^([A-Za-z]+): /.exec(text) ?? [];
  const head = isOwnReason(cause) ? `${cause}: ` : '';
  const rest = text.slice(head.length);
  const archived = `${head}${rest === '' ? '' : beginsAsOurs(rest) ? archivedProse(rest, names) : withheld(rest)}`;
  return {
    metadata: only(event['metadata'], ['name', 'namespace', 'creationTimestamp']),
    involvedObject: only(event['involvedObject'], ['apiVersion', 'kind', 'namespace', 'name', 'uid']),
    source: { component: source },
    message: archived,
    ...only(event, ['type', 'reason', 'count', 'firstTimestamp', 'lastTimestamp', 'eventTime']),
  };
}

/**
 * The JSON output of a command: what it says of its own, and of what others wrote, what has a format of the
 * contract.
 */
export function archivedOutput(value: unknown, names: KnownNames): unknown {
  if (typeof value === 'string') return archivedProse(value, names);
  if (Array.isArray(value)) return value.map((one) => archivedOutput(one, names));
  // The parser may represent numbers as objects.
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return byKey(value, (_key, one) => archivedOutput(one, names));
}

/**
 * A row's columns as plain data. Of a foreign row, and of keys that other programs set in Kiln's rows, only the keys
 * remain.
 */
export function archivedColumns(columns: Fields, modes: Readonly<Record<string, ColumnMode>>, isOwn: boolean, names: KnownNames): Fields {
  const archived = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one: unknown) => archived(name, one));
    if (typeof value !== 'string') return value;
    if (name === 'name') return withPlainWords(value);
    return isOwn ? archivedProse(value, names) : archivedText(value, names);
  };
  const of = Object.entries(modes).flatMap(([name, mode]): readonly (readonly [string, unknown])[] => {
    const value = columns[name];
    if (value === undefined) return [];
    if (!(value instanceof Map)) return [[name, archived(name, value)]];
    const stays = (key: string): boolean => isOwn && (typeof mode === 'string' ? !key.includes(':') : mode.includes(key));
    return [[name, Object.fromEntries([...value].map(([key, one]) => [String(key), stays(String(key)) ? archived('', one) : DROPPED]))]];
  });
  return Object.fromEntries(of);
}

/** Of each line in JSON, the fields of a log line; other lines, such as those of a crash, word by word. */
export function archivedLog(log: string, names: KnownNames): string {
  const prose = (text: string): string => archivedProse(text, names);
  // First, since a private key has several lines.
  return withoutSecrets(log)
    .split('\n')
    .map((line) => {
      const fields = line.startsWith('{') ? parsed(line) : undefined;
      return visibleLines(fields === undefined ? prose(line) : JSON.stringify(archivedLine(fields, prose)));
    })
    .join('\n');
}

/** Beside the fields, what the log itself writes. */
const OF_LINE: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

function archivedLine(line: object, prose: (text: string) => string): Fields {
  const fields = Object.entries(line).flatMap(([name, value]) => {
    const kind = OF_LINE.has(name) ? 'text' : kindOfField(name);
    return kind === undefined ? [] : [[name, writtenValue(value, kind, kind === 'name' ? withPlainWords : prose)] as const];
  });
  return Object.fromEntries(fields);
}

function archivedMetadata(metadata: unknown, names: KnownNames): Fields {
  const { ownerReferences, annotations, labels } = fieldsOf(metadata);
  return {
    ...only(metadata, METADATA),
    ...(Array.isArray(ownerReferences) ? { ownerReferences: ownerReferences.map((owner) => only(owner, OWNER)) } : {}),
    ...(labels === undefined
      ? {}
      : { labels: byKey(labels, (key, value) => (LABELS.has(key) ? archivedText(String(value), names) : DROPPED)) }),
    ...(annotations === undefined ? {} : { annotations: archivedAnnotations(annotations, names) }),
  };
}

function archivedAnnotations(annotations: unknown, names: KnownNames): Fields {
  return byKey(annotations, (key, value) => {
    if (key === kilnAnnotation.conditions) return archivedConditions(parsed(value), names);
    if (key === annotationKey.networkAttachments || key === annotationKey.defaultNetworkAttachment) return archivedNetworks(value, names);
    if (OF_LEASE.has(key)) return value;
    return ANNOTATIONS.has(key) || OF_INTERFACE.test(key) ? archivedText(String(value), names) : DROPPED;
  });
}

/** Comma-separated names, or a JSON list, whose elements may contain arguments of any plugin. */
function archivedNetworks(value: unknown, names: KnownNames): unknown {
  const items = parsed(value);
  if (items === undefined) return archivedText(String(value), names);
  const fields = ['name', 'namespace', 'interface', 'ips', 'mac', 'ipRequest', 'macRequest'];
  const archived = (item: unknown): Fields =>
    byKey(only(item, fields), (_key, one) => archivedText(typeof one === 'string' ? one : JSON.stringify(one), names));
  return Array.isArray(items) ? items.map(archived) : archived(items);
}

/** Of a plugin's configuration, the fields that decide whether Kiln allocates its addresses. */
function archivedConfig(config: unknown, names: KnownNames): unknown {
  const texts = (value: unknown, fields: readonly string[]): Fields =>
    byKey(only(value, fields), (_key, one) => archivedProse(typeof one === 'string' ? one : JSON.stringify(one), names));
  const plugin = (value: unknown): Fields => {
    const { ipam } = fieldsOf(value);
    return { ...texts(value, ['type', 'provider', 'default-route']), ipam: texts(ipam, ['type', 'provider']) };
  };
  const value = fieldsOf(parsed(config));
  return {
    ...plugin(value),
    ...texts(value, ['name', 'cniVersion']),
    plugins: Array.isArray(value['plugins']) ? value['plugins'].map(plugin) : [],
  };
}

function archivedStatus(status: unknown, names: KnownNames): unknown {
  const fields = fieldsOf(status);
  return fields['conditions'] === undefined ? status : { ...fields, conditions: archivedConditions(fields['conditions'], names) };
}

/** The conditions that Kiln writes; of others only their existence. */
function archivedConditions(all: unknown, names: KnownNames): unknown {
  if (!Array.isArray(all)) return DROPPED;
  return all.map((condition) => {
    const { type, reason, message } = fieldsOf(condition);
    const own =
      typeof type === 'string' && Object.hasOwn(CONDITION_TYPES, type) && (reason === undefined || reason === '' || isOwnReason(reason));
    const archived = own && typeof message === 'string' ? { message: archivedProse(message, names) } : {};
    const fields = ['reason', 'lastTransitionTime', 'lastUpdateTime', 'observedGeneration'];
    return { ...only(condition, ['type', 'status', ...(own ? fields : [])]), ...archived };
  });
}

/** Fields of Kube-OVN's schemas that hold a secret. */
export const SECRET_FIELDS: ReadonlySet<string> = new Set(['password']);

/** Pruned as an API server does it, in case this one did not. */
function pruned(node: SchemaNode, value: unknown, names: KnownNames): unknown {
  if (node.properties !== undefined) {
    const fields = fieldsOf(value);
    const present = Object.entries(node.properties).filter(([name]) => fields[name] !== undefined && fields[name] !== null);
    return Object.fromEntries(
      present.map(([name, inner]) => [name, SECRET_FIELDS.has(name) ? DROPPED : pruned(inner, fields[name], names)]),
    );
  }
  const { items, additionalProperties } = node;
  if (items !== undefined) return Array.isArray(value) ? value.map((one) => pruned(items, one, names)) : [];
  if (additionalProperties !== undefined) return byKey(value, (_key, one) => pruned(additionalProperties, one, names));
  if (typeof value === 'string') return node.enum?.includes(value) === true ? value : archivedText(value, names);
  return typeof value === 'object' ? DROPPED : value;
}

function byKey(value: unknown, archived: (key: string, value: unknown) => unknown): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(value)).map(([key, one]) => [key, archived(key, one)]));
}

function only(value: unknown, names: readonly string[]): Fields {
  const fields = fieldsOf(value);
  return Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function parsed(value: unknown): object | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    const document: unknown = JSON.parse(value);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}
