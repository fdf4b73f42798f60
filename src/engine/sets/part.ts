/** The parts of a live set, watched. */
import type { Watcher } from '../watcher.ts';
import type { Reactor } from '../reactor.ts';
import type { AnySet, Part } from './set-definition.ts';

/** What a set is computed over: a World. */
export interface SetHost {
  readonly reactor: Reactor;
  set(definition: AnySet, key: string): NeededSet;
}

/** A set that another one has as a part. */
export interface NeededSet {
  readonly height: number;
  watch(watcher: Watcher): () => void;
  refresh(): void;
}

/** Equal parts have the same name. */
export function partName(part: Part): string {
  switch (part.kind) {
    case 'keys':
      return `keys\n${part.keys.join('\n')}`;
    case 'bucket':
      return `bucket\n${part.table.name}\n${part.index}\n${part.value}`;
    case 'children':
      return `children\n${part.column}\n${part.parent}`;
    case 'set':
      return `set\n${part.of.index}\n${part.key}`;
    case 'buckets':
      return `buckets\n${part.table.name}\n${part.index}\n${part.of.index}\n${part.key}`;
  }
}

/** Announces the keys of a part, then each that enters or leaves. @returns ends it, without announcing that the keys leave */
export function watchPart(world: SetHost, part: Part, watcher: Watcher): () => void {
  switch (part.kind) {
    case 'keys':
      for (const key of part.keys) watcher.enter(key);
      return () => undefined;
    case 'bucket':
      return part.table.watchBucket(part.index, part.value, watcher);
    case 'children':
      return part.rows.watchChildren(part.parent, part.column, watcher);
    case 'set':
      return world.set(part.of, part.key).watch(watcher);
    case 'buckets': {
      const { table, index } = part;
      const open = new Map<string, { readonly keys: Set<string>; readonly end: () => void }>();
      const end = world.set(part.of, part.key).watch({
        enter: (value) => {
          const keys = new Set<string>();
          const inside: Watcher = {
            enter: (key) => {
              keys.add(key);
              watcher.enter(key);
            },
            leave: (key) => {
              keys.delete(key);
              watcher.leave(key);
            },
          };
          open.set(value, { keys, end: table.watchBucket(index, value, inside) });
        },
        leave: (value) => {
          const bucket = open.get(value);
          open.delete(value);
          bucket?.end();
          for (const key of bucket?.keys ?? []) watcher.leave(key);
        },
      });
      return () => {
        end();
        for (const bucket of open.values()) bucket.end();
      };
    }
  }
}

/** What has to be up to date before the part is. */
export function needsOfPart(world: SetHost, part: Part): readonly Pick<NeededSet, 'height' | 'refresh'>[] {
  const table = part.kind === 'bucket' || part.kind === 'buckets' ? part.table : undefined;
  const derived = table?.refresh === undefined ? [] : [table as Pick<NeededSet, 'height' | 'refresh'>];
  return part.kind === 'set' || part.kind === 'buckets' ? [...derived, world.set(part.of, part.key)] : derived;
}
