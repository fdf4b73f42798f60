/**
 * What a take-over from Kube-OVN would stop, change, leave and keep: the controller's rules, allocation and diff in memory, on a World that
 * was observed once. Pure but for the memory of the preview.
 */
import type { ObjectId } from '../../compile/output.ts';
import { objectId } from '../../compile/output.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import { leftoverGroups } from '../../explain/leftovers.ts';
import type { Neighbour } from '../../explain/neighbours.ts';
import { neighbourhood } from '../../explain/neighbours.ts';
import { stateOf } from '../../explain/object-state.ts';
import type { PlanGroup } from '../../explain/plan-groups.ts';
import { planGroups } from '../../explain/plan-groups.ts';
import type { Finding } from '../../explain/status.ts';
import { statusOf } from '../../explain/status.ts';
import { unimplementedObjects } from '../../explain/unimplemented.ts';
import { typedName } from '../../explain/kind-names.ts';
import { identityOf, tableOf } from '../../nb/row-id.ts';
import type { Networks, NetworkForeseen } from '../../preview/foresight.ts';
import type { Preview } from '../../preview/preview.ts';
import { commandText, inNamespace } from '../../text/command-text.ts';
import { conditionsOf } from '../../world/conditions.ts';
import type { ResourceName } from '../../world/resources.ts';
import { keyOf, splitKey, traitsOf } from '../../world/resources.ts';
import type { FlagWithoutCounterpart } from './kube-ovn-flags.ts';

/**
 * Why something would stop, or is to be known. `kind`: Kiln does not implement the kind. `field`: nor a field or an annotation of the object.
 * `refused`: Kiln does not accept the object. `conflict`: a row of another program has the name. `network`: a pod loses or changes its
 * network. `flag`: of Kube-OVN's controller. The others are those of `kiln status`.
 */
export type MatterKind = 'kind' | 'field' | 'refused' | 'conflict' | 'network' | 'flag' | Finding['what'];

export interface Matter {
  readonly what: MatterKind;
  /** A kind, a table of OVN, or `flag`. */
  readonly kind: string;
  /** `namespace/name`, the name of a row, or the flag as written. */
  readonly name: string;
  readonly message: string;
  /** Rows of Kube-OVN for it that stay in effect, as they are. */
  readonly keptRows: number;
  /** A command; empty if none tells more. */
  readonly next: string;
}

export interface TakeOver {
  /** What works now and would not afterwards, or would follow no change. */
  readonly stops: readonly Matter[];
  /** What Kiln reports that is no loss. */
  readonly notes: readonly Matter[];
  readonly changes: {
    /** Rows that get ownership keys, and nothing else. */
    readonly adopted: number;
    readonly rows: readonly PlanGroup[];
    /** Of objects: all but conditions, finalizers, and what only Kiln reads. */
    readonly objects: readonly PlanGroup[];
    /** Objects that get these alone. */
    readonly bookkeeping: number;
  };
  /** Rows of Kube-OVN that stay for objects that exist, and those of objects that are gone. */
  readonly kept: { readonly served: number; readonly unserved: number };
  readonly neighbours: readonly Neighbour[];
}

/**
 * Does the take-over in memory.
 * @param preview new: nothing was written in it
 * @param networks of the World before
 */
export function takeOver(preview: Preview, networks: Networks, flags: readonly FlagWithoutCounterpart[]): TakeOver {
  const { world } = preview;
  const written = preview.settle();
  const evicted = written.objects.flatMap((write) => (write.verb === 'evict' ? [idOf(write)] : []));
  const left = leftoverGroups(world);
  const keptFor = new Map<ObjectId, number>();
  for (const { object, rows } of left) if (object !== undefined) keptFor.set(objectId(object.resource, object.key), rows.length);
  const matter = (what: MatterKind, resource: ResourceName, key: string, message: string): Matter => {
    const kind = traitsOf(resource).kind;
    const keptRows = keptFor.get(objectId(resource, key)) ?? 0;
    return { what, kind, name: key, message: withoutSubject(`${kind} ${key}`, message), keptRows, next: explained(resource, key) };
  };
  const kinds = unimplementedObjects(world).map(({ resource, key, feature }) =>
    matter('kind', resource, key, `not implemented: ${feature}`),
  );
  const status = statusOf(world, true);
  const fields = status.notes
    .filter(({ resource, key }) => world.unimplemented.peek(`${resource}/${key}`) === undefined)
    .map(({ resource, key, message }) => matter('field', resource as ResourceName, key, message));
  const wasReady = ({ resource, key }: Finding): boolean => {
    const touched = preview.api.touched.get(objectId(resource as ResourceName, key));
    return touched?.before === undefined || !wasRefused(resource as ResourceName, touched.before);
  };
  const refused = status.findings.filter((one) => REFUSED.has(one.what) && wasReady(one));
  const told = status.findings.filter((one) => !refused.includes(one) && TOLD.has(one.what));
  const cutOff = networks.changes(new Set(), new Set(evicted)).networks;
  return {
    stops: [
      ...cutOff.map((one) => matter('network', one.resource, one.key, networkText(one))),
      ...refused.map(({ resource, key, message }) => matter('refused', resource as ResourceName, key, message)),
      ...[...preview.conflicts].map(([id, message]): Matter => {
        const [table, name] = [tableOf(id), identityOf(id)];
        return { what: 'conflict', kind: table, name, message, keptRows: 0, next: commandText`ovn-nbctl list ${table} ${name}` };
      }),
      ...kinds,
      ...fields,
      ...flags.filter(({ stops }) => stops).map(flagMatter),
    ],
    notes: [
      ...told.map(({ what, kind, key, message, next }): Matter => ({
        ...{ what, kind, name: key, message: withoutSubject(`${kind} ${key}`, message), keptRows: 0, next },
      })),
      ...flags.filter(({ stops }) => !stops).map(flagMatter),
    ],
    changes: changesOf(written),
    kept: {
      served: left.reduce((sum, { object, rows }) => sum + (object === undefined ? 0 : rows.length), 0),
      unserved: left.reduce((sum, { object, rows }) => sum + (object === undefined ? rows.length : 0), 0),
    },
    neighbours: neighbourhood(
      world,
      [...preview.conflicts].map(([id, message]) => ({ id, message })),
    ).neighbours.filter(({ name }) => name !== KUBE_OVN_ROWS),
  };
}

/** Its rows that stay are counted already. */
const KUBE_OVN_ROWS = 'kube-ovn';

/** Findings about an object that Kiln would not carry out. */
const REFUSED: ReadonlySet<Finding['what']> = new Set(['not ready', 'conflict', 'not admitted']);
/** Findings that stop nothing. Full Subnets and leftovers have nothing to do with the take-over, or are counted. */
const TOLD: ReadonlySet<Finding['what']> = new Set([
  'not ready',
  'conflict',
  'not admitted',
  'blocked',
  'misbound',
  'without effect',
  'outdated',
]);

type Held = NonNullable<ReturnType<Preview['api']['touched']['get']>>['before'];

/** Whether Kube-OVN said already that the object is not in effect. */
function wasRefused(resource: ResourceName, before: NonNullable<Held>): boolean {
  const { ready } = (before.status ?? {}) as { readonly ready?: unknown };
  return ready === false || (conditionsOf(resource, before).length > 0 && stateOf(resource, before).ready === 'False');
}

function withoutSubject(subject: string, message: string): string {
  return message.startsWith(`${subject}: `) ? message.slice(subject.length + 2) : message;
}

function networkText({ what, before, after, message }: NetworkForeseen): string {
  const to = what === 'moved' ? ` -> ${after.join(', ')}` : '';
  return `${what}: ${before.join(', ')}${to}${message === '' ? '' : `: ${message}`}`;
}

function flagMatter({ flag, message }: FlagWithoutCounterpart): Matter {
  return { what: 'flag', kind: 'flag', name: flag, message, keptRows: 0, next: '' };
}

function explained(resource: ResourceName, key: string): string {
  const { namespace, name } = splitKey(key);
  return commandText`kiln explain ${typedName(resource)} ${name} ${inNamespace(namespace)}`;
}

function changesOf(written: ReturnType<Preview['settle']>): TakeOver['changes'] {
  const groups = planGroups({ rows: written.rows, objects: [] });
  const isPlain = ({ change, fields }: PlanGroup): boolean => change === 'adopt' && fields.length === 0;
  const changed = written.objects.flatMap(withoutBookkeeping);
  const touched = new Set(changed.map(idOf));
  return {
    adopted: groups.filter(isPlain).reduce((sum, { names }) => sum + names.length, 0),
    rows: groups.filter((group) => !isPlain(group)),
    objects: planGroups({ rows: [], objects: changed }),
    bookkeeping: new Set(written.objects.map(idOf).filter((id) => !touched.has(id))).size,
  };
}

function idOf({ resource, namespace, name }: ObjectWrite): ObjectId {
  return objectId(resource, keyOf({ metadata: { namespace, name } }));
}

type Fields = Readonly<Record<string, unknown>>;

/** A patch without conditions, finalizers, and annotations of Kiln's own; nothing if nothing else is in it. */
function withoutBookkeeping(write: ObjectWrite): readonly ObjectWrite[] {
  if (write.verb !== 'patch') return [write];
  const { metadata = {}, status = {}, ...parts } = write.patch as Readonly<Record<string, Fields>>;
  const { finalizers: _, annotations = {}, uid: _uid, resourceVersion: _version, ...more } = metadata;
  const { conditions: _conditions, ...fields } = status;
  const others = Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !key.startsWith('kiln.io/')));
  const rest: Fields = {
    ...parts,
    ...(Object.keys(more).length + Object.keys(others).length === 0
      ? {}
      : { metadata: { ...more, ...(Object.keys(others).length === 0 ? {} : { annotations: others }) } }),
    ...(Object.keys(fields).length === 0 ? {} : { status: fields }),
  };
  const isEmpty = Object.values(rest).every((part) => typeof part !== 'object' || part === null || Object.keys(part).length === 0);
  return isEmpty ? [] : [{ ...write, patch: rest }];
}
