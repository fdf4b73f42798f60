/**
 * Whether a row of ours that nothing explains may go: what the settings, the annotations of its Vpc and Namespace, a pause and the grace of
 * rows that Kube-OVN made say about it. The same in every process, since all of it is observed. Limits by number are `commit`'s.
 */
import { kilnAnnotation } from '../api/well-known.ts';
import type { ObjectId } from '../compile/output.ts';
import type { GcMode } from '../nb/gc-rules.ts';
import { carefulOf, GcRules, isGcMode } from '../nb/gc-rules.ts';
import { LEFTOVER_RULE, UNEXPLAINED_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId } from '../nb/row-id.ts';
import { childColumns } from '../nb/tables.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';
import { visibleMessage } from '../text/visible-text.ts';
import type { Entry } from '../world/observed-rows.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

/** Why a row stays. `off` and `report`: by a setting; `paused`: by a person, for all rows; `grace`: Kube-OVN made it, until a moment. */
export type Stay = 'off' | 'report' | 'paused' | 'grace';

export interface Stays {
  readonly why: Stay;
  /** What says so, as the end of a sentence. */
  readonly text: string;
  /** Of a grace: its end, milliseconds since the epoch. */
  readonly until?: number;
}

/** A person's pause, from the annotation of the default Vpc. */
export interface GcPause {
  readonly by: string;
  /** RFC 3339; empty if it was not written by the command. */
  readonly since: string;
  readonly reason: string;
}

/** A person's approval, from the annotation of the default Vpc. */
export interface GcApproval {
  readonly by: string;
  /** So many rows. */
  readonly rows: number;
  /** Of these rows; undefined: it covers none of a hold. */
  readonly digest?: string;
  /** RFC 3339: it is in effect until then. */
  readonly until: string;
  /** The grace of Kube-OVN's rows is over as well: `kiln gc run`. */
  readonly now?: boolean;
}

export interface Moment {
  /** Wall clock, milliseconds since the epoch. */
  readonly now: number;
  /** Whether rows are explained by an object that exists, or whose deletion was observed: its rows go as with any change of it. */
  readonly explained: (owner: string) => boolean;
}

export class CollectionPolicy {
  readonly #world: World;
  readonly #rules: GcRules;
  readonly #grace: boolean;
  /** The annotated ones only: there are few. */
  readonly #vpcs = new Map<string, GcMode>();
  readonly #namespaces = new Map<string, GcMode>();

  /**
   * @param grace false in a laboratory: Kube-OVN's rows go at once
   * @param changed called when an annotation changed that counts
   */
  constructor(world: World, grace: boolean, changed: () => void = () => undefined) {
    this.#world = world;
    this.#grace = grace;
    this.#rules = new GcRules(world.settings.gcRules);
    const { defaultVpc } = world.settings;
    for (const [table, modes] of [
      [world.vpcs, this.#vpcs],
      [world.namespaces, this.#namespaces],
    ] as const) {
      const read = (name: string, text: string | undefined): boolean => {
        if (text === undefined) return modes.delete(name);
        const given = text.trim();
        // The author of a misspelt mode wanted fewer deletions, and would find out too late.
        const mode = isGcMode(given) ? given : 'report';
        const before = modes.get(name);
        modes.set(name, mode);
        return before !== mode;
      };
      for (const [name, { metadata }] of table.entries()) read(name, metadata.annotations?.[kilnAnnotation.gc]);
      (table as typeof world.vpcs).onChange((name, after, before) => {
        const now = after?.metadata.annotations;
        const then = before?.metadata.annotations;
        const isOfAll = table === world.vpcs && name === defaultVpc && OF_ALL.some((key) => now?.[key] !== then?.[key]);
        if (read(name, now?.[kilnAnnotation.gc]) || isOfAll) changed();
      });
    }
  }

  /** Undefined: nothing is paused. */
  get pause(): GcPause | undefined {
    const text = this.#annotation(kilnAnnotation.gcPause);
    if (text === undefined) return undefined;
    const read = objectIn(text);
    const part = (key: string): string => (typeof read?.[key] === 'string' ? visibleMessage(read[key], MOST_WORDS) : '');
    if (read === undefined) return { by: '', since: '', reason: visibleMessage(text, MOST_WORDS) };
    return { by: part('by'), since: part('since'), reason: part('reason') };
  }

  /** Undefined: there is none, or its text is none. */
  get approval(): GcApproval | undefined {
    const read = objectIn(this.#annotation(kilnAnnotation.gcApproval) ?? '');
    const { rows, digest, until, by, now } = read ?? {};
    if (typeof rows !== 'number' || !Number.isSafeInteger(rows) || rows < 1) return undefined;
    if (typeof until !== 'string' || Number.isNaN(Date.parse(until))) return undefined;
    const words = typeof by === 'string' ? visibleMessage(by, MOST_WORDS) : '';
    const named = typeof digest === 'string' && /^[0-9a-f]{16}$/.test(digest) ? { digest } : {};
    return { rows, ...named, until, by: words, ...(now === true && { now }) };
  }

  /** Of the approval, if it is in effect. */
  approvedAt(now: number): GcApproval | undefined {
    const { approval } = this;
    return approval !== undefined && Date.parse(approval.until) > now ? approval : undefined;
  }

  /** @returns undefined if it may go */
  stays(row: Entry, moment: Moment): Stays | undefined {
    const { ownership } = row;
    if (ownership.kind !== 'ours' || moment.explained(ownership.owner)) return undefined;
    return this.#staysItself(row, ownership.owner, moment) ?? this.#keptInside(row, moment);
  }

  /**
   * Of what is left in Kubernetes of an owner that is gone: the object itself, or keys on it. It stays also while the row stays that it was
   * with: an address of a port, the name of a switch. @returns undefined if it may go
   */
  leftoverStays(object: ObjectId, owner: string, moment: Moment): Stays | undefined {
    if (moment.explained(owner)) return undefined;
    const { mode, text } = this.#modeOf(undefined, owner, namespaceOf(object));
    if (mode !== 'on') return { why: mode, text };
    const { pause } = this;
    if (pause !== undefined) return { why: 'paused', text: pauseText(pause) };
    for (const row of this.#world.rows.rowsOf(rowBeside(object, owner))) {
      const stays = this.stays(row, moment);
      if (stays !== undefined) return { ...stays, text: `${row.table} ${identityOf(row.id)} stays: ${stays.text}` };
    }
    return undefined;
  }

  /** Of an entry that no rule emits, and no object explains, in a row that stays. @returns undefined if it may go */
  entryStays(row: Entry): Stays | undefined {
    return row.ownership.kind === 'ours' ? this.#staysByMode(row, row.ownership.owner) : undefined;
  }

  #staysByMode(row: Entry, owner: string): Stays | undefined {
    const { mode, text } = this.#modeOf(row, owner);
    if (mode !== 'on') return { why: mode, text };
    const { pause } = this;
    return pause === undefined ? undefined : { why: 'paused', text: pauseText(pause) };
  }

  #staysItself(row: Entry, owner: string, { now }: Moment): Stays | undefined {
    const stays = this.#staysByMode(row, owner);
    if (stays !== undefined) return stays;
    const until = this.#graceEnd(row, now);
    if (until === undefined || until <= now || this.approvedAt(now)?.now === true) return undefined;
    return { why: 'grace', text: `Kube-OVN left it, and it stays until ${new Date(until).toISOString()} (--gc-kube-ovn-grace)`, until };
  }

  /** The rows inside a row go with it: one that stays keeps it. */
  #keptInside({ table, row }: Entry, moment: Moment): Stays | undefined {
    const { rows } = this.#world;
    for (const { column } of childColumns(table)) {
      const held = row[column];
      if (!(held instanceof Set)) continue;
      for (const uuid of held as ReadonlySet<Uuid>) {
        const child = rows.entry(uuid);
        const found = child === undefined ? undefined : this.stays(child, moment);
        if (child !== undefined && found !== undefined)
          return { ...found, text: `${child.table} ${identityOf(child.id)} in it stays: ${found.text}` };
      }
    }
    return undefined;
  }

  /** @param row undefined: it is no row; `within` is the Namespace of the object that is left, or has keys that are left */
  #modeOf(row: Entry | undefined, owner: string, within = ''): { readonly mode: GcMode; readonly text: string } {
    const { settings } = this.#world;
    const rule = row === undefined ? this.#rules.ofOwner(owner) : this.#rules.of(row.table, identityOf(row.id), owner);
    let found = { mode: settings.gc, text: `--gc=${settings.gc}` };
    const take = (mode: GcMode | undefined, text: string): void => {
      if (mode !== undefined && carefulOf(mode, found.mode) !== found.mode) found = { mode, text };
    };
    if (rule !== undefined) take(rule.mode, `--gc-rules ${JSON.stringify(rule)}`);
    if (this.#namespaces.size > 0) {
      const [, namespace = ''] = owner.split('/');
      for (const name of new Set([namespace, within]))
        take(this.#namespaces.get(name), `annotation ${kilnAnnotation.gc} of Namespace ${name}`);
    }
    if (row !== undefined && this.#vpcs.size > 0) {
      const vpc = this.#vpcOf(row, owner);
      take(this.#vpcs.get(vpc), `annotation ${kilnAnnotation.gc} of Vpc ${vpc}`);
    }
    return found;
  }

  /** By the router or switch that it is in; else by the object that owned it. Empty if neither shows it. */
  #vpcOf(row: Entry, owner: string): string {
    const { rows } = this.#world;
    let top = row;
    for (let depth = 0; depth < MOST_DEPTH; depth++) {
      const [link] = rows.parentsOf(top.uuid);
      const parent = link === undefined ? undefined : rows.entry(link.uuid);
      if (parent === undefined) break;
      top = parent;
    }
    if (top.table === 'Logical_Router') return identityOf(top.id);
    if (top.table === 'Logical_Switch') return this.#vpcOfSwitch(top);
    const [kind, , name = ''] = owner.split('/');
    if (kind === 'vpc') return name;
    return kind === 'subnet' ? this.#vpcOfSubnet(name) : '';
  }

  #vpcOfSubnet(name: string): string {
    const subnet = this.#world.subnets.peek(name);
    return subnet === undefined ? '' : this.#world.vpcOf(subnet);
  }

  /** The Vpc of its Subnet; the router that it has a port in, if there is no such Subnet. */
  #vpcOfSwitch({ id, row }: Entry): string {
    const named = this.#vpcOfSubnet(identityOf(id));
    if (named !== '') return named;
    const { rows } = this.#world;
    const ports = row['ports'];
    if (!(ports instanceof Set)) return '';
    for (const uuid of ports as ReadonlySet<Uuid>) {
      const port = rows.entry(uuid)?.row;
      const peer =
        port?.['type'] === 'router' && port['options'] instanceof Map ? (port['options'].get('router-port') as unknown) : undefined;
      if (typeof peer !== 'string') continue;
      for (const end of rows.rowsOf(rowId('Logical_Router_Port', peer)))
        for (const link of rows.parentsOf(end.uuid)) {
          const router = rows.entry(link.uuid);
          if (router !== undefined) return identityOf(router.id);
        }
    }
    return '';
  }

  /** Of a row that Kube-OVN left for a feature, and that was adopted as it was: nothing else could make it again. */
  #graceEnd({ ownership, row }: Entry, now: number): number | undefined {
    const { gcKubeOvnGrace } = this.#world.settings;
    if (!this.#grace || gcKubeOvnGrace === 0) return undefined;
    if (ownership.kind !== 'ours' || ownership.rule !== LEFTOVER_RULE) return undefined;
    return (unexplainedSince(row) ?? now) + gcKubeOvnGrace * 1_000;
  }

  #annotation(key: string): string | undefined {
    const { vpcs, settings } = this.#world;
    return vpcs.peek(settings.defaultVpc)?.metadata.annotations?.[key];
  }
}

const OF_ALL: readonly string[] = [kilnAnnotation.gcPause, kilnAnnotation.gcApproval];
/** Characters of what a person wrote. */
const MOST_WORDS = 200;
/** A port in a switch, a gateway chassis in a router port in a router. */
const MOST_DEPTH = 4;

/** The Namespace that an object is or is in; empty if it is in none. */
function namespaceOf(object: ObjectId): string {
  const [resource = '', ...key] = object.split('/');
  return resource === 'namespaces' || key.length > 1 ? (key[0] ?? '') : '';
}

/** Of an IP object the port with its name, of keys of a Subnet its switch. */
function rowBeside(object: ObjectId, owner: string): RowId {
  const [resource = '', name = ''] = object.split('/');
  if (traitsOf(resource as ResourceName).holdsPorts === true) return rowId('Logical_Switch_Port', name);
  return rowId('Logical_Switch', owner.startsWith('subnet//') ? owner.slice('subnet//'.length) : '');
}

/** Since when the database shows that nothing explains the row, in milliseconds since the epoch; undefined: it does not. */
export function unexplainedSince({ external_ids: held }: Row): number | undefined {
  const text: unknown = held instanceof Map ? held.get(UNEXPLAINED_KEY) : undefined;
  const at = typeof text === 'string' ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** `paused by ann since …: reason`. */
export function pauseText({ by, since, reason }: GcPause): string {
  return `collection is paused${by === '' ? '' : ` by ${by}`}${since === '' ? '' : ` since ${since}`}${reason === '' ? '' : `: ${reason}`}`;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
