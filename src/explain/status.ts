/**
 * The state of a cluster on one screen: the number of objects of each kind, findings, and notes.
 */
import type { ConditionType } from '../api/condition-types.ts';
import { BLOCKED_RESOURCES } from '../blockers/dependencies.ts';
import { foreignOptions, foreignOptionText, optionRemoval } from '../compile/global-options.ts';
import { isChecked } from '../compile/ineffective-rules.ts';
import { clusterObject } from '../world/built-in.ts';
import { conditionOf, conditionsOf } from '../world/conditions.ts';
import { countText } from '../text/count-text.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../world/resources.ts';
import type { AnyObservedObject, World } from '../world/world.ts';
import { addressesCounted } from './address-counts.ts';
import { foreignRows } from './foreign-rows.ts';
import type { Neighbourhood } from './neighbours.ts';
import { neighbourhood } from './neighbours.ts';
import { ineffectiveConditions } from './ineffective-conditions.ts';
import { typedName } from './kind-names.ts';
import { unimplementedGroups } from './unimplemented.ts';
import type { ObjectState } from './object-state.ts';
import { stateOf } from './object-state.ts';
import { wordsOf } from './words.ts';
import { leftoverGroups, leftoverText } from './leftovers.ts';
import { leftoverVips, leftoverVipsText } from './leftover-vips.ts';
import { heldRows } from './held-rows.ts';
import { strandedRows } from './stranded-rows.ts';
import { commandText } from '../text/command-text.ts';

/** A finding is a problem that a user can solve; a note is a feature that this version does not implement, whatever is edited. */
export interface Finding<What extends string = ProblemKind> {
  readonly what: What;
  readonly kind: string;
  readonly resource: ResourceName | typeof DEFINITIONS;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly message: string;
  /** Empty if unknown: a deleted object has no conditions. */
  readonly since: string;
  readonly next: string;
}

export type ProblemKind =
  'blocked' | 'conflict' | 'misbound' | 'not admitted' | 'not ready' | 'without effect' | 'nearly full' | 'left over' | 'outdated';

export type Note = Finding<'not implemented'>;

export interface ClusterStatus {
  readonly counts: Readonly<Record<string, number>>;
  /** Number of owned rows in the Northbound database; undefined if it was not read. */
  readonly rows: number | undefined;
  /** Rows of other programs by table; empty if the database was not read, or for chosen objects. */
  readonly foreignRows: Readonly<Record<string, number>>;
  /** The programs that these rows belong to, as far as it shows, and how many of their rows touch one of Kiln. */
  readonly neighbours: readonly {
    readonly name: string;
    readonly rows: number;
    readonly tables: Readonly<Record<string, number>>;
    readonly touches: number;
  }[];
  readonly findings: readonly Finding[];
  readonly notes: readonly Note[];
}

const DEFINITIONS = 'customresourcedefinitions';

/** Whether an object is included. */
export type Chosen = (resource: ResourceName, key: string, object: Pick<AnyObservedObject, 'metadata' | 'spec'>) => boolean;

const ALL: Chosen = () => true;

/** Why there is nothing to say about a namespace. */
export function namespaceProblem(world: World, name: string): string | undefined {
  return world.namespaces.peek(name) === undefined ? `Namespace ${name} does not exist` : undefined;
}

/** The objects of a namespace: its own, those that name it in their spec, the Vpcs of those Subnets, and the Namespace. */
export function ofNamespace(namespace: string, world: World): Chosen {
  const names = (spec: unknown): boolean => {
    const named = (spec ?? {}) as { readonly namespace?: unknown; readonly namespaces?: unknown };
    return named.namespace === namespace || (Array.isArray(named.namespaces) && named.namespaces.includes(namespace));
  };
  const subnets = [...world.subnets.entries()].filter(([, { spec }]) => names(spec));
  const vpcs = new Set(subnets.map(([, subnet]) => world.vpcOf(subnet)));
  return (resource, key, { metadata, spec }) => {
    if (traitsOf(resource).namespaced) return metadata.namespace === namespace;
    if (resource === 'namespaces') return key === namespace;
    return names(spec) || (resource === 'vpcs' && vpcs.has(key));
  };
}

/** The finding for each reason of a running pod's condition. */
const RUNNING_WITH: Readonly<Partial<Record<string, ProblemKind>>> = {
  Misbound: 'misbound',
  NamespaceNotAdmitted: 'not admitted',
  PortNotAllowed: 'not admitted',
};

/** A Subnet with less than this share of its addresses left is nearly full. */
const NEARLY_FULL = 0.1;

/** An object as something has to be judged that it does not say itself yet. */
export type AsReported = (resource: ResourceName, key: string, object: AnyObservedObject) => AnyObservedObject;

const AS_IT_IS: AsReported = (_resource, _key, object) => object;

/**
 * @param northbound whether the database was read; then rows of the whole cluster are counted
 * @param reported for findings about single objects
 */
export function statusOf(world: World, northbound: boolean, chosen: Chosen = ALL, reported: AsReported = AS_IT_IS): ClusterStatus {
  const counts: Record<string, number> = {};
  for (const resource of RESOURCE_NAMES) {
    const size = chosen === ALL ? (world.tables[resource]?.size ?? 0) : objectsOf(world, resource, chosen).length;
    if (size > 0) counts[traitsOf(resource).kind] = size;
  }
  const around = northbound && chosen === ALL ? neighbourhood(world) : undefined;
  return {
    counts,
    rows: northbound ? world.rows.owned.size : undefined,
    foreignRows: northbound && chosen === ALL ? foreignRows(world) : {},
    neighbours: (around?.neighbours ?? []).map(({ name, rows, tables, touches }) => ({ name, rows, tables, touches: touches.length })),
    findings: [
      ...objectFindings(world, chosen, reported),
      ...nearlyFull(world, chosen),
      ...(chosen === ALL
        ? [
            ...leftBehind(world),
            ...heldByUndo(world),
            ...leftovers(world),
            ...vipsWithoutService(world),
            ...outdated(world),
            ...optionsWithoutEffect(world),
          ]
        : []),
      ...tooWide(world, around),
    ],
    notes: notesOf(world, chosen),
  };
}

function objectsOf(world: World, resource: ResourceName, chosen: Chosen): (readonly [string, AnyObservedObject])[] {
  const entries = [...(world.tables[resource]?.entries() ?? [])] as (readonly [string, AnyObservedObject])[];
  return entries.filter(([key, object]) => chosen(resource, key, object));
}

/** Kinds with objects that Kiln reports on; those that can have blockers come first. */
export const REPORTED_RESOURCES: readonly ResourceName[] = [
  ...new Set([
    ...BLOCKED_RESOURCES,
    ...RESOURCE_NAMES.filter((resource) => {
      const { unimplemented, conditions } = traitsOf(resource);
      return unimplemented === undefined && (conditions !== 'none' || isChecked(resource));
    }),
  ]),
];

function objectFindings(world: World, chosen: Chosen, reported: AsReported): Finding[] {
  return REPORTED_RESOURCES.flatMap((resource) =>
    objectsOf(world, resource, chosen).flatMap(([key, observed]): Finding[] => {
      const object = reported(resource, key, observed);
      const state = stateOf(resource, object);
      const { reason, message, since } = state;
      const elsewhere = networkConditionOf(resource, object);
      const running = elsewhere?.status === 'True' && elsewhere.reason !== 'Bound' ? elsewhere : undefined;
      const parts = ineffectiveConditions(world, resource, object)
        // A network with host bits is in effect as the network: nothing needs to be done.
        .flatMap(({ what, reason: of, ...one }) => (what === 'not implemented' || of === 'HostBitsCleared' ? [] : [{ ...one, what }]))
        .map((one) => finding(one.what, resource, key, one.message, one.since));
      const ineffective: Finding[] = [...parts, ...missingParts(resource, key, object)];
      // That it is not ready follows from it.
      const withoutCause = partFinding('left over', resource, key, object, 'CauseGone', 'True');
      if (withoutCause.length > 0) return [...withoutCause, ...ineffective];
      if (running !== undefined) {
        const what = RUNNING_WITH[running.reason ?? ''] ?? 'without effect';
        return [finding(what, resource, key, running.message ?? '', running.lastTransitionTime ?? since), ...ineffective];
      }
      if (!isWrong(resource, object, state) || isUnimplementedPart(resource, state)) return ineffective;
      const what = reason === 'DeletionBlocked' ? 'blocked' : reason === 'HeldTwice' ? 'conflict' : 'not ready';
      return [finding(what, resource, key, message === '' ? reason : message, since)];
    }),
  );
}

/** Parts that an object needs and has not, while it is ready all the same: external ports of a Vpc, its BFD sessions, its Subnet for pods. */
function missingParts(resource: ResourceName, key: string, object: AnyObservedObject): readonly Finding[] {
  return (['External', 'Bfd', 'DefaultSubnet'] as const).flatMap((type) => partFinding('not ready', resource, key, object, type, 'False'));
}

function partFinding(
  what: ProblemKind,
  resource: ResourceName,
  key: string,
  object: AnyObservedObject,
  ...[type, status]: readonly [type: ConditionType, status: 'True' | 'False']
): readonly Finding[] {
  const condition = conditionOf(resource, object, type);
  if (condition?.status !== status || object.metadata.deletionTimestamp !== undefined) return [];
  const { message = '', lastTransitionTime = object.metadata.creationTimestamp } = condition;
  return [finding(what, resource, key, message, lastTransitionTime)];
}

/** An EIP whose rule or router port is not implemented: nothing on it can be corrected, so it is a note, as its rule is. */
function isUnimplementedPart(resource: ResourceName, { ready, reason }: ObjectState): boolean {
  return ready === 'False' && reason === 'NotCarriedOut' && wordsOf(resource).partlyImplemented === true;
}

function networkConditionOf(resource: ResourceName, object: AnyObservedObject): ReturnType<typeof conditionOf> {
  const { networkCondition } = wordsOf(resource);
  return networkCondition === undefined ? undefined : conditionOf(resource, object, networkCondition);
}

/** Whether the object has a problem: a pod or node that the kubelet has not started yet is no finding. */
function isWrong(resource: ResourceName, object: AnyObservedObject, { ready, reason }: ObjectState): boolean {
  if (ready !== 'False') return false;
  if (object.metadata.deletionTimestamp !== undefined && reason === 'Terminating') return false;
  if (wordsOf(resource).networkCondition !== undefined) return networkConditionOf(resource, object)?.status === 'False';
  if (traitsOf(resource).conditions === 'none') return false;
  return wordsOf(resource).readyByOthers !== true || conditionsOf(resource, object).some(({ reason: of }) => of === reason);
}

function notesOf(world: World, chosen: Chosen): readonly Note[] {
  const fields = REPORTED_RESOURCES.flatMap((resource) =>
    objectsOf(world, resource, chosen).flatMap(([key, object]) => {
      const state = stateOf(resource, object);
      const parts = ineffectiveConditions(world, resource, object).filter(({ what }) => what === 'not implemented');
      return [...(isUnimplementedPart(resource, state) ? [state] : []), ...parts].map(({ message, since }) =>
        finding('not implemented', resource, key, message, since),
      );
    }),
  );
  const objects = unimplementedGroups(world, chosen).map(({ resource, key, message, next }): Note => ({
    what: 'not implemented',
    kind: traitsOf(resource).kind,
    resource,
    key,
    message,
    since: '',
    next,
  }));
  return [...fields, ...objects];
}

/** Whether its network has no address of the family any more: those that are in use keep it for now, and condition Accepted names them. */
function isLeavingFamily({ spec }: AnyObservedObject, family: string): boolean {
  const { cidrBlock } = (spec ?? {}) as { readonly cidrBlock?: unknown };
  return typeof cidrBlock === 'string' && !cidrBlock.includes(family === 'IPv6' ? ':' : '.');
}

function nearlyFull(world: World, chosen: Chosen): Finding[] {
  return RESOURCE_NAMES.flatMap((resource) => {
    const { runsFull } = wordsOf(resource);
    if (runsFull === undefined) return [];
    const counted = objectsOf(world, resource, chosen).filter(([key]) => runsFull(world, key));
    return counted.flatMap(([key, object]) =>
      addressesCounted(resource, object).flatMap(({ family, used, free }): Finding[] => {
        const all = Number(free) + Number(used);
        if (Number(used) === 0 || Number(free) >= NEARLY_FULL * all || isLeavingFamily(object, family)) return [];
        const message = `${traitsOf(resource).kind} ${key} has ${countText(Number(free))} of ${countText(all)} ${family} addresses left`;
        return [finding('nearly full', resource, key, message, object.metadata.creationTimestamp)];
      }),
    );
  });
}

/** Patterns of the setting `neighbours` that match rows of Kiln. They protect nothing of these: else Kiln could not look after its own rows. */
function tooWide(world: World, around: Neighbourhood | undefined): readonly Finding[] {
  const { resource, key } = clusterObject(world.settings);
  return (around?.tooWide ?? []).map(({ name, rows, first }) => ({
    ...{ what: 'without effect' as const, kind: traitsOf(resource).kind, resource, key, since: '', next: 'kiln neighbours' },
    message: `pattern ${name} of the setting neighbours matches ${countText(rows)} rows of Kiln, such as ${first}; it has no effect on these, and is to be narrower`,
  }));
}

function leftBehind(world: World): readonly Finding[] {
  return strandedRows(world).map((row) => ({ what: 'blocked', kind: traitsOf(row.resource).kind, ...row, since: '' }));
}

function heldByUndo(world: World): readonly Finding[] {
  return heldRows(world).map((held) => ({ what: 'left over', kind: traitsOf(held.resource).kind, ...held, since: '' }));
}

/** Leftovers without an existing object are reported for the default Vpc, since they are in its network. */
function leftovers(world: World): readonly Finding[] {
  return leftoverGroups(world).map((group) => {
    const { resource, key } = group.object ?? clusterObject(world.settings);
    return { what: 'left over', kind: traitsOf(resource).kind, resource, key, ...leftoverText(group), since: '' };
  });
}

function vipsWithoutService(world: World): readonly Finding[] {
  const { resource } = clusterObject(world.settings);
  const { kind } = traitsOf(resource);
  return leftoverVips(world).map((group) => ({
    ...{ what: 'left over', kind, resource, key: group.vpc, since: '' },
    ...leftoverVipsText(group),
  }));
}

const MOST_FIELDS = 6;

/** Definitions of an older Kube-OVN. */
function outdated(world: World): readonly Finding[] {
  return world.pruned.entries.map(([resource, paths]) => {
    const { kind, group, plural } = traitsOf(resource);
    const key = `${plural}.${group}`;
    const shown = [...paths].slice(0, MOST_FIELDS).join(', ');
    const more = paths.size > MOST_FIELDS ? ` and ${paths.size - MOST_FIELDS} more` : '';
    const message = `CustomResourceDefinition ${key} is of an older Kube-OVN: the API server drops ${shown}${more} of every ${kind}, so what Kiln reports there is not to be seen`;
    const next = 'kubectl apply --server-side=false --validate=false -f deploy/crds.yaml';
    return { what: 'outdated', kind: 'CustomResourceDefinition', resource: DEFINITIONS, key, message, since: '', next };
  });
}

/** Only if the setting demands the options: otherwise the value of another program is valid as well. */
function optionsWithoutEffect(world: World): readonly Finding[] {
  if (world.settings.globalOptions !== 'always') return [];
  const { resource, key } = clusterObject(world.settings);
  return foreignOptions(world).map((foreign) => ({
    ...{ what: 'without effect', kind: traitsOf(resource).kind, resource, key, since: '' },
    message: `--global-options=always: ${foreignOptionText(foreign)}`,
    next: optionRemoval(foreign),
  }));
}

function finding<What extends string>(what: What, resource: ResourceName, key: string, message: string, since: string): Finding<What> {
  const [first = '', second] = key.split('/');
  const next =
    second === undefined
      ? commandText`kiln explain ${typedName(resource)} ${first}`
      : commandText`kiln explain ${typedName(resource)} ${second} -n ${first}`;
  return { what, kind: traitsOf(resource).kind, resource, key, message, since, next };
}
