/**
 * The findings of an audit, by invariant and cause. What a fresh controller would change shows what differs from what the objects ask for; what
 * is only Kiln's own bookkeeping (ownership keys, conditions, its annotations) is no finding, so that a cluster of Kube-OVN's is judged alike.
 */
import { createHash } from 'node:crypto';
import type { ObjectId } from '../../compile/output.ts';
import { objectId } from '../../compile/output.ts';
import type { Collected } from '../../explain/collection-plan.ts';
import type { LeftoverGroup } from '../../explain/leftovers.ts';
import { planGroups } from '../../explain/plan-groups.ts';
import type { PlannedChanges } from '../../explain/plan-text.ts';
import type { ClusterStatus, ProblemKind } from '../../explain/status.ts';
import { wordsOf } from '../../explain/words.ts';
import type { Invariant, Violation } from '../../invariants/violation.ts';
import { GLOBAL_ROW } from '../../nb/global-keys.ts';
import { isKeyless } from '../../nb/ownership.ts';
import { identityOf, rowId, tableOf } from '../../nb/row-id.ts';
import type { RowId } from '../../nb/row-id.ts';
import { tableSpec } from '../../nb/tables.ts';
import { commandText, inNamespace } from '../../text/command-text.ts';
import { traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';

/** A row or an object that a repair writes. */
export type WriteTarget = { readonly kind: 'row'; readonly id: RowId } | { readonly kind: 'object'; readonly id: ObjectId };

export interface AuditFinding {
  /** The same in each audit, as long as the fault is the same: for `kiln repair`. */
  readonly id: string;
  /** The object or row: `Subnet web`, `Logical_Switch_Port web-0.shop`. */
  readonly subject: string;
  readonly message: string;
  /** The next command. */
  readonly next: string;
  /** What `kiln repair` would write first; none: it repairs nothing here. */
  readonly repairs: readonly WriteTarget[];
}

export type AuditInvariant = Invariant | 'settings';

export interface AuditGroup {
  readonly invariant: AuditInvariant;
  readonly cause: string;
  readonly findings: readonly AuditFinding[];
}

export interface AuditSources {
  readonly world: World;
  readonly plan: PlannedChanges;
  readonly conflicts: readonly { readonly id: RowId; readonly message: string }[];
  readonly violations: readonly Violation[];
  readonly status: ClusterStatus;
  readonly leftovers: readonly LeftoverGroup[];
  /** Rows without an object that the collection leaves: a pause, a setting, a grace, a hold. */
  readonly kept: readonly Pick<Collected, 'table' | 'name' | 'why'>[];
}

/** What each invariant is for a reader. */
export const INVARIANT_TEXT: Readonly<Record<AuditInvariant, string>> = {
  I1: 'an address is in use exactly when something that lives holds it',
  I2: 'counts and ranges of a Subnet are those of its addresses',
  I3: 'the rows in OVN are those that the objects ask for',
  I4: 'rows of other programs are left alone',
  I5: 'what is being deleted goes, or says what it waits for',
  I6: 'no two share an address, a network or a row unless both want it',
  I7: 'a pod with a network has it in OVN, in a Subnet that it may use',
  I8: 'nothing is left to be written',
  I10: 'one controller writes',
  settings: 'settings do what they say',
};

const OF_STATUS: Readonly<Record<ProblemKind, AuditInvariant>> = {
  blocked: 'I5',
  conflict: 'I6',
  misbound: 'I7',
  'not admitted': 'settings',
  'not ready': 'I7',
  'without effect': 'settings',
  'nearly full': 'I2',
  'left over': 'I3',
  outdated: 'settings',
};

/** Invariants that the plan judges already, in other words. */
const BY_PLAN: ReadonlySet<Invariant> = new Set(['I3', 'I8']);

/** In the order of the invariants; causes with most findings first. */
export function auditGroups(sources: AuditSources): readonly AuditGroup[] {
  const groups = new Map<string, AuditGroup & { readonly findings: AuditFinding[] }>();
  const ids = new Set<string>();
  const put: Put = (invariant, cause, { subject, message: told, next, repairs = [] }) => {
    const message = told.startsWith(`${subject}: `) ? told.slice(subject.length + 2) : told;
    const key = `${invariant} ${cause}`;
    const group = groups.get(key) ?? { invariant, cause, findings: [] };
    // The same fault may show in several sources.
    if (group.findings.some((one) => one.subject === subject && one.message === message)) return;
    // Messages have counts, which change; another finding of the same cause and subject is told apart by its message.
    const same = [`${key} ${subject}`, `${key} ${subject} ${message}`].map(idOf);
    const id = same.find((one) => !ids.has(one)) ?? idOf(`${key} ${subject} ${message} ${ids.size}`);
    ids.add(id);
    group.findings.push({ id, subject, message, next, repairs });
    groups.set(key, group);
  };
  const { world, status, violations, conflicts, plan, leftovers, kept } = sources;
  const ofKiln = isOfKiln(world);
  for (const row of plan.rows) putRow(world, row, put, ofKiln);
  for (const { table, name, why } of kept)
    put('I3', 'a row has no object', { subject: `${table} ${name}`, message: why, next: 'kiln gc plan' });
  for (const write of plan.objects) putObject(write, put);
  for (const { id, message } of conflicts) putConflict(world, id, message, put);
  for (const { what, kind, key, message, next } of status.findings)
    if (what !== 'left over') put(OF_STATUS[what], what, { subject: `${kind} ${key}`, message, next: lookingFirst(next) });
  for (const { object, rows, isBeside } of leftovers) {
    if (object !== undefined) continue;
    for (const { table, name, effect, remove } of rows) {
      const message = effect === '' ? 'it has no effect on traffic' : `what it does: ${effect}`;
      if (table === 'Logical_Switch_Port' && effect !== '') {
        put('I1', 'an address leaked: a port of Kube-OVN has no pod', {
          subject: `${table} ${name}`,
          message: effect,
          next: commandText`ovn-nbctl list ${table} ${name}; kiln diff has the command that removes it`,
        });
        continue;
      }
      const cause = isBeside ? 'a second row of a name that is used' : 'a row of Kube-OVN that serves no object';
      // What steers traffic may be all that a connection depends on: a person looks at it first.
      const next = effect === '' && remove !== undefined ? remove : commandText`ovn-nbctl list ${table} ${name}`;
      put('I3', cause, { subject: `${table} ${name}`, message, next });
    }
  }
  for (const { invariant, subject, message } of violations)
    if (!BY_PLAN.has(invariant) && (invariant !== 'I7' || isOfKiln(world)))
      put(invariant, 'the objects and rows contradict each other', { subject, message, next: 'kiln status' });
  return [...groups.values()].toSorted(
    (a, b) => ORDER.indexOf(a.invariant) - ORDER.indexOf(b.invariant) || b.findings.length - a.findings.length,
  );
}

/** Whether Kiln runs the cluster: some invariants judge its keys. Beside Kube-OVN, only rows that a repair made have them. */
export function isOfKiln({ rows }: World): boolean {
  let [ours, legacy] = [0, 0];
  for (const { ownership } of rows.inTable('Logical_Router')) {
    if (ownership.kind === 'ours') ours++;
    else if (ownership.kind === 'legacy') legacy++;
  }
  return rows.owned.size > 0 && ours >= legacy;
}

const ORDER: readonly AuditInvariant[] = ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I10', 'settings'];

type Put = (
  invariant: AuditInvariant,
  cause: string,
  finding: Omit<AuditFinding, 'id' | 'repairs'> & Partial<Pick<AuditFinding, 'repairs'>>,
) => void;

/** Commands of OVN that end or change something, with what they name. */
const WRITING = /^ovn-nbctl (?:(?:remove|destroy|clear|set) (\S+) (\S+)|\S+-(?:del|add|set)\b)/;

/** An audit is read long after it was made, and by others: it names the row to look at, never the command that ends it. */
function lookingFirst(next: string): string {
  const writing = WRITING.exec(next);
  if (writing === null) return next;
  const [, table, row] = writing;
  return table === undefined || row === undefined ? 'kiln status' : commandText`ovn-nbctl list ${table} ${row}`;
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** Shows a row: by its name, or by its UUID if the table has none, as of ACLs; of one that is missing what it belongs into. */
function lookAt(world: World, id: RowId): string {
  const [table, name] = [tableOf(id), identityOf(id)];
  if (!name.includes('|')) return commandText`ovn-nbctl list ${table} ${name}`;
  const row = world.rows.state(id);
  if (row !== undefined) return commandText`ovn-nbctl list ${table} ${row.uuid}`;
  const [parent = ''] = name.split('|');
  const inside = tableSpec(table).parents.find((of) => world.rows.state(rowId(of.table, parent)) !== undefined);
  return inside === undefined ? commandText`ovn-nbctl list ${table}` : commandText`ovn-nbctl list ${inside.table} ${parent}`;
}

/** Kube-OVN before 1.15 made some rows without keys: its own migration knows them by their names, and so does an audit. */
function putConflict(world: World, id: RowId, message: string, put: Put): void {
  const subject = rowText(id);
  const { rows } = world;
  const row = rows.state(id);
  const held = rows.column(id, 'external_ids');
  const isKubeOvns = row !== undefined && isKeyless(tableOf(id), identityOf(id), held instanceof Map ? held : undefined, row.ownership);
  if (!isKubeOvns) {
    const cause = 'a row of another program has the name that an object needs';
    return put('I6', cause, { subject, message, next: 'kiln neighbours' });
  }
  put('I3', 'a row of Kube-OVN has no keys of its vendor', {
    subject,
    message: "it is Kube-OVN's by its name, and no object names it: Kiln would leave it as it is, beside the object that needs it",
    next: lookAt(world, id),
  });
}

/** @param ofKiln false: a row that differs may be as another release of Kube-OVN writes it, and is no matter of a repair. */
function putRow(world: World, row: PlannedChanges['rows'][number], put: Put, ofKiln: boolean): void {
  const [group] = planGroups({ rows: [row], objects: [] });
  if (group === undefined) return;
  const { change, fields } = group;
  const finding = (message: string, isRepaired = true): Parameters<Put>[2] => ({
    subject: rowText(row.id),
    message,
    next: lookAt(world, row.id),
    repairs: isRepaired ? [{ kind: 'row', id: row.id }] : [],
  });
  switch (change) {
    case 'insert':
    case 'later':
      return put('I3', 'a row is missing', finding('the objects ask for it, and OVN does not have it', change === 'insert'));
    case 'delete':
    case 'replace':
      return put('I3', 'a row has no object', finding('no object asks for it'));
    default:
      if (fields.length > 0 && row.id === GLOBAL_ROW)
        put('settings', 'options of OVN are not those that the objects need', finding(`these differ: ${fields.join(', ')}`, ofKiln));
      else if (fields.length > 0)
        put('I3', 'a row differs', finding(`these differ from what the objects ask for: ${fields.join(', ')}`, ofKiln));
  }
}

function putObject(write: PlannedChanges['objects'][number], put: Put): void {
  const { resource, namespace, name } = write;
  const { kind, plural, holdsPorts } = traitsOf(resource);
  const key = `${namespace === '' ? '' : `${namespace}/`}${name}`;
  const subject = `${kind} ${key}`;
  const about = {
    subject,
    next: commandText`kubectl get ${plural} ${name} ${inNamespace(namespace)} -o yaml`,
    repairs: [{ kind: 'object', id: objectId(resource, key) }] as const,
  };
  switch (write.verb) {
    case 'create':
      if (holdsPorts === true)
        put('I1', 'an address in use has no IP object', { ...about, message: 'its pod or node has an address, and it does not exist' });
      return;
    case 'delete': {
      const message = 'nothing that lives needs it';
      if (holdsPorts === true) return put('I1', 'an address leaked: its IP object has no pod', { ...about, message });
      return put('I8', 'an object has lost its purpose', { ...about, message });
    }
    case 'evict':
      return put('I7', 'a pod is not in the network of its namespace', {
        ...about,
        message: 'a controller of Kiln would evict it, since its namespace asks for that',
        next: commandText`kiln explain pod ${name} ${inNamespace(namespace)}`,
        // The workload loses a replica for a while: a person or a controller decides when.
        repairs: [],
      });
    default: {
      const counts = new Set(['v4', 'v6'].flatMap((family) => wordsOf(resource).counts?.(family as 'v4' | 'v6') ?? []));
      const wrong = Object.keys(write.patch['status'] ?? {}).filter(
        (field) => counts.has(field) || /^v[46](using|available)IPrange$/i.test(field),
      );
      if (wrong.length > 0)
        put('I2', 'counts or ranges disagree with the addresses', {
          ...about,
          message: `not those of its addresses: status.${wrong.join(', status.')}`,
        });
      const { finalizers } = (write.patch['metadata'] ?? {}) as { readonly finalizers?: readonly string[] };
      if (finalizers?.length === 0)
        put('I5', 'a finalizer is left that nothing needs', { ...about, message: 'it is being deleted, and nothing blocks it' });
    }
  }
}

function rowText(id: RowId): string {
  return `${tableOf(id)} ${identityOf(id)}`;
}
