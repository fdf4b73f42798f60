/**
 * A live set: the members that a definition gives for one key, kept up to date, and the sources of what is read of it. `set-definition.ts`
 * has the contract. The set ends when its last reader and its last watcher have left.
 */
import type { Watcher } from '../watcher.ts';
import { Computation } from '../reactor.ts';
import { Source } from '../source.ts';
import { OrderedKeys } from './ordered-keys.ts';
import type { SetHost } from './part.ts';
import { partName, needsOfPart, watchPart } from './part.ts';
import type { AnySet, Part } from './set-definition.ts';

/** What is read of the set. */
class Reading extends Source {
  readonly #set: LiveSet;

  constructor(set: LiveSet) {
    super();
    this.#set = set;
  }

  override get height(): number {
    return this.#set.height;
  }

  protected override onUnread(): void {
    this.#set.endIfUnused();
  }
}

/** Whether one key is a member. */
class MemberReading extends Source {
  readonly #set: LiveSet;
  readonly #home: Map<string, Source>;
  readonly #key: string;

  constructor(set: LiveSet, home: Map<string, Source>, key: string) {
    super();
    this.#set = set;
    this.#home = home;
    this.#key = key;
    home.set(key, this);
  }

  override get height(): number {
    return this.#set.height;
  }

  protected override onUnread(): void {
    this.#home.delete(this.#key);
    this.#set.endIfUnused();
  }
}

/** The first keys that were last read, as many as were requested. */
class FirstReading extends Reading {
  keys: readonly string[] = [];
}

interface WatchedPart {
  readonly needs: ReturnType<typeof needsOfPart>;
  /** The keys that it has announced. */
  readonly keys: Set<string>;
  readonly end: () => void;
}

interface Candidate {
  /** How many parts have it. */
  parts: number;
  readonly run: MemberRun | undefined;
}

export class LiveSet {
  readonly #world: SetHost;
  readonly #definition: AnySet;
  readonly #key: string;
  readonly #home: Map<string, LiveSet>;
  readonly #plan: Plan;
  readonly #parts = new Map<string, WatchedPart>();
  readonly #candidates = new Map<string, Candidate>();
  /** How many candidates stand for a member. */
  readonly #members = new Map<string, number>();
  readonly #due = new Set<MemberRun>();
  readonly #watchers = new Set<Watcher>();
  readonly #failures = new Map<string, unknown>();
  readonly #counted = new Reading(this);
  readonly #all = new Reading(this);
  readonly #one = new Map<string, Source>();
  readonly #firsts = new Map<number, FirstReading>();
  #ordered: OrderedKeys | undefined;
  #refreshing = false;
  #ended = false;
  /** That of the highest computation so far, so that readers run after all of them. */
  height = 1;

  /** @param home where it is found by its key, until it ends */
  constructor(world: SetHost, definition: AnySet, key: string, home: Map<string, LiveSet>) {
    this.#world = world;
    this.#definition = definition;
    this.#key = key;
    this.#home = home;
    this.#plan = new Plan(this, world, definition, key);
  }

  /** Number of members. */
  get count(): number {
    return this.#read(
      () => this.#counted,
      () => this.#members.size,
    );
  }

  /** The first members in order. The reader runs again only when these change. */
  first(count: number): readonly string[] {
    return this.#read(
      () => this.#firstReading(count),
      () => {
        this.#ordered ??= new OrderedKeys(this.#members.keys());
        return (this.#firstReading(count).keys = this.#ordered.first(count));
      },
    );
  }

  #firstReading(count: number): FirstReading {
    let reading = this.#firsts.get(count);
    if (reading === undefined) this.#firsts.set(count, (reading = new FirstReading(this)));
    return reading;
  }

  has(key: string): boolean {
    return this.#read(
      () => this.#one.get(key) ?? new MemberReading(this, this.#one, key),
      () => this.#members.has(key),
    );
  }

  /** All members: the reader runs again at every change. Cost: one pass. */
  all(): readonly string[] {
    return this.#read(
      () => this.#all,
      () => [...this.#members.keys()],
    );
  }

  /** Announces the members, then each that enters or leaves, as they are computed. @returns ends it */
  watch(watcher: Watcher): () => void {
    this.refresh();
    for (const member of this.#members.keys()) watcher.enter(member);
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      this.endIfUnused();
    };
  }

  /** Whether a key is a member, as it was last computed; untracked. */
  hasNow(key: string): boolean {
    return this.#members.has(key);
  }

  /** The members as they were last computed, untracked. */
  now(): IterableIterator<string> {
    return this.#members.keys();
  }

  /** Brings it up to date: what is due of its parts, then of its candidates. */
  refresh(): void {
    if (this.#refreshing) throw new Error(`the set ${this.#definition.name} of ${this.#key} reads itself`);
    this.#refreshing = true;
    try {
      this.#plan.refresh();
      for (const { needs } of this.#parts.values())
        for (const one of needs) {
          one.refresh();
          this.height = Math.max(this.height, one.height + 1);
        }
      for (const run of this.#due) run.refresh();
    } finally {
      this.#refreshing = false;
    }
  }

  /** The parts have changed: those that are named again stay. */
  take(parts: readonly Part[]): void {
    const needed = new Map(parts.map((part) => [partName(part), part]));
    const left = [...this.#parts].filter(([name]) => !needed.has(name));
    for (const [name, part] of needed) if (!this.#parts.has(name)) this.#open(name, part);
    // Afterwards, so that what is in an old part and in a new one stays.
    for (const [name, part] of left) {
      this.#parts.delete(name);
      part.end();
      for (const key of part.keys) this.#leave(key);
    }
  }

  #open(name: string, part: Part): void {
    const keys = new Set<string>();
    const end = watchPart(this.#world, part, {
      enter: (key) => {
        keys.add(key);
        this.#enter(key);
      },
      leave: (key) => {
        keys.delete(key);
        this.#leave(key);
      },
    });
    this.#parts.set(name, { needs: needsOfPart(this.#world, part), keys, end });
  }

  #enter(key: string): void {
    const candidate = this.#candidates.get(key);
    if (candidate !== undefined) {
      candidate.parts++;
      return;
    }
    const { member } = this.#definition;
    const run = member === undefined ? undefined : new MemberRun(this, this.#world, this.#definition, this.#key, key);
    this.#candidates.set(key, { parts: 1, run });
    if (run === undefined) this.replace(undefined, key);
    else {
      this.#due.add(run);
      this.#world.reactor.enqueue(run);
    }
  }

  #leave(key: string): void {
    const candidate = this.#candidates.get(key);
    if (candidate === undefined || --candidate.parts > 0) return;
    this.#candidates.delete(key);
    if (candidate.run === undefined) this.replace(key, undefined);
    else {
      this.#due.delete(candidate.run);
      this.replace(candidate.run.peek(), undefined);
      candidate.run.dispose();
      this.works(key);
    }
  }

  /** A candidate stands for another member than before. */
  replace(before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    if (after !== undefined) this.#count(after, 1);
    if (before !== undefined) this.#count(before, -1);
  }

  #count(member: string, by: 1 | -1): void {
    const times = (this.#members.get(member) ?? 0) + by;
    const isNew = by === 1 && times === 1;
    if (times > 0) this.#members.set(member, times);
    else this.#members.delete(member);
    if (!isNew && times > 0) return;
    if (isNew) this.#ordered?.add(member);
    else this.#ordered?.remove(member);
    const { reactor } = this.#world;
    reactor.touch(this.#counted);
    reactor.touch(this.#all);
    const one = this.#one.get(member);
    if (one !== undefined) reactor.touch(one);
    for (const [count, reading] of this.#firsts) {
      const last = reading.keys[count - 1];
      if (last === undefined || member <= last) reactor.touch(reading);
    }
    for (const watcher of this.#watchers) {
      if (isNew) watcher.enter(member);
      else watcher.leave(member);
    }
  }

  /** A definition threw: readers get the error, and members stay. @param part the candidate, or empty for the parts */
  fails(part: string, error: unknown): void {
    const isFirst = this.#failures.size === 0;
    this.#failures.set(part, error);
    if (isFirst) this.#touchAll();
  }

  works(part: string): void {
    if (this.#failures.delete(part) && this.#failures.size === 0) this.#touchAll();
  }

  ran(run: MemberRun): void {
    this.#due.delete(run);
  }

  isDue(run: MemberRun): void {
    if (!this.#ended) this.#due.add(run);
  }

  #touchAll(): void {
    for (const source of [this.#counted, this.#all, ...this.#one.values(), ...this.#firsts.values()]) this.#world.reactor.touch(source);
  }

  #read<V>(source: () => Source, value: () => V): V {
    this.refresh();
    const { tracking } = this.#world.reactor;
    if (tracking) this.#world.reactor.track(source());
    try {
      for (const error of this.#failures.values()) throw error;
      return value();
    } finally {
      // A read from outside the rules leaves nothing behind.
      if (!tracking) this.endIfUnused();
    }
  }

  /** Ends it when nothing reads or watches it any longer. */
  endIfUnused(): void {
    if (this.#ended || this.#watchers.size > 0 || this.#one.size > 0 || this.#counted.isRead || this.#all.isRead) return;
    for (const reading of this.#firsts.values()) if (reading.isRead) return;
    this.#ended = true;
    if (this.#home.get(this.#key) === this) this.#home.delete(this.#key);
    this.#plan.dispose();
    for (const { run } of this.#candidates.values()) run?.dispose();
    for (const { end } of this.#parts.values()) end();
    this.#due.clear();
  }
}

/** The parts of the set, by its definition. */
class Plan extends Computation<readonly Part[]> {
  readonly #set: LiveSet;
  readonly #world: SetHost;
  readonly #definition: AnySet;
  readonly #key: string;

  constructor(set: LiveSet, world: SetHost, definition: AnySet, key: string) {
    super(world.reactor);
    this.#set = set;
    this.#world = world;
    this.#definition = definition;
    this.#key = key;
  }

  protected override run(): readonly Part[] {
    try {
      const parts = this.#definition.candidates(this.#world as never, this.#key);
      this.#set.works('');
      return parts;
    } catch (error) {
      this.#set.fails('', error);
      return this.peek() ?? [];
    }
  }

  override refresh(): void {
    super.refresh();
    this.#set.height = Math.max(this.#set.height, this.height);
  }

  protected override changed(parts: readonly Part[]): readonly Part[] {
    this.#set.take(parts);
    return parts;
  }
}

/** The member that one candidate stands for. */
class MemberRun extends Computation<string | undefined> {
  readonly #set: LiveSet;
  readonly #world: SetHost;
  readonly #definition: AnySet;
  readonly #key: string;
  readonly #candidate: string;

  constructor(set: LiveSet, world: SetHost, definition: AnySet, key: string, candidate: string) {
    super(world.reactor);
    this.#set = set;
    this.#world = world;
    this.#definition = definition;
    this.#key = key;
    this.#candidate = candidate;
  }

  protected override run(): string | undefined {
    this.#set.ran(this);
    try {
      const member = this.#definition.member?.(this.#world as never, this.#key, this.#candidate);
      this.#set.works(this.#candidate);
      return member;
    } catch (error) {
      this.#set.fails(this.#candidate, error);
      return this.peek();
    }
  }

  override refresh(): void {
    super.refresh();
    this.#set.height = Math.max(this.#set.height, this.height);
  }

  protected override changed(after: string | undefined, before: string | undefined): string | undefined {
    this.#set.replace(before, after);
    return after;
  }

  override invalidate(source: Source): void {
    super.invalidate(source);
    this.#set.isDue(this);
  }
}
