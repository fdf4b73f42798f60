/**
 * What the keys of `Open_vSwitch.external_ids` were before the agent set them: in a key of its own, as JSON, with null for one that did not exist.
 * `kiln agent cleanup` restores them.
 */
const KEY = 'kiln.io/before';

type Before = Readonly<Record<string, string | null>>;

/** Adds to the keys that are about to be set what they were, if that is not recorded yet. */
export function withRecord(
  present: ReadonlyMap<string, string>,
  setting: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const recorded = recordOf(present);
  const before: Record<string, string | null> = { ...recorded };
  for (const key of Object.keys(setting)) if (!Object.hasOwn(recorded, key)) before[key] = present.get(key) ?? null;
  return { ...setting, [KEY]: JSON.stringify(before) };
}

/** The keys to set, and those to delete, for the state before the agent. Nothing where none is recorded. */
export function restored(present: ReadonlyMap<string, string>): {
  readonly set: Readonly<Record<string, string>>;
  readonly unset: readonly string[];
} {
  if (!present.has(KEY)) return { set: {}, unset: [] };
  const entries = Object.entries(recordOf(present));
  return {
    set: Object.fromEntries(entries.flatMap(([key, value]) => (value === null ? [] : [[key, value]]))),
    unset: [...entries.flatMap(([key, value]) => (value === null ? [key] : [])), KEY],
  };
}

/** What a key was before the agent, or is, if the agent has not set it; undefined if it did not exist. */
export function before(present: ReadonlyMap<string, string>, key: string): string | undefined {
  const recorded = recordOf(present);
  return Object.hasOwn(recorded, key) ? (recorded[key] ?? undefined) : present.get(key);
}

/** A record that cannot be read is none: it was written by hand. */
function recordOf(present: ReadonlyMap<string, string>): Before {
  try {
    const parsed: unknown = JSON.parse(present.get(KEY) ?? '{}');
    if (typeof parsed !== 'object' || parsed === null) return {};
    return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value === null || typeof value === 'string')) as Before;
  } catch {
    return {};
  }
}
