/** One change to an object, as data: where, and what. */
import fc from 'fast-check';

export interface Mutation {
  /** Chooses among all fields of the object. */
  readonly place: number;
  readonly change:
    | { readonly kind: 'replace'; readonly value: unknown }
    | { readonly kind: 'remove' }
    | { readonly kind: 'double' }
    | { readonly kind: 'edit'; readonly at: number; readonly insert: string; readonly cut: number };
}

const NASTY: readonly unknown[] = [
  ...[
    '',
    ' ',
    ',',
    '..',
    '/',
    '0',
    '-1',
    'nonsense',
    'x'.repeat(5_000),
    'Ünïcödé 🪱',
    '"quoted" \\ \'',
    'a\nb\tc',
    '{"a":',
    '[]',
    '$(true)',
  ],
  ...[
    '0.0.0.0/0',
    '10.0.0.0/33',
    '10.200.0.0/16',
    '10.201.0.0/8',
    '255.255.255.255',
    '224.0.0.1/4',
    '127.0.0.1',
    '10.200.0.1',
    '::/0',
    'fe80::1',
  ],
  ...['fd00::/129', '::ffff:10.0.0.1', '10.0.0.9..10.0.0.3', '10.0.0.1..fd00::1', '010.1.2.3', 'ff:ff:ff:ff:ff:ff', '00:00:00:00:00:00'],
  ...[
    'ovn-cluster',
    'ovn-default',
    'join',
    'ground',
    'ground-net',
    'nowhere',
    'no-such.ground.ovn',
    'ip4.src ==',
    '&&',
    '1 || 1',
    'policySrc',
  ],
  ...[-1, 0, 1, 65_536, 2 ** 31, 2 ** 53, 1.5, true, false, null, [], {}, ['', ''], [null], { a: { b: 1 } }],
];

export const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat({ max: 10_000 }),
  change: fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('replace' as const), value: fc.constantFrom(...NASTY) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('double' as const) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('edit' as const),
        at: fc.nat({ max: 100 }),
        insert: fc.constantFrom('', '0', '9', '.', ':', '/', ',', ';', '-', ' ', '"', 'f', '\u0000', '..'),
        cut: fc.nat({ max: 2 }),
      }),
    },
  ),
});

type Container = Record<string, unknown> | unknown[];

/** A copy of the object with one change in its spec or its annotations. */
export function mutated<T extends object>(object: T, { place, change }: Mutation): T {
  const copy = structuredClone(object);
  const { kind, metadata, spec } = copy as { kind?: string; metadata?: { annotations?: Container }; spec?: Container };
  // The API server validates the spec of a pod, not Kiln.
  const places = [...(kind === 'Pod' ? [] : placesIn(spec)), ...placesIn(metadata?.annotations)];
  const found = places[place % Math.max(places.length, 1)];
  if (found === undefined) return copy;
  const [container, key] = found;
  const value = (container as Record<string | number, unknown>)[key];
  const put = (to: unknown): void => void ((container as Record<string | number, unknown>)[key] = to);
  switch (change.kind) {
    case 'replace':
      put(change.value);
      break;
    case 'remove':
      if (Array.isArray(container)) container.splice(Number(key), 1);
      else delete container[key];
      break;
    case 'double':
      if (Array.isArray(container)) container.push(value);
      else put([value, value]);
      break;
    case 'edit': {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const at = text.length === 0 ? 0 : change.at % text.length;
      put(text.slice(0, at) + change.insert + text.slice(at + change.cut));
    }
  }
  return copy;
}

function placesIn(value: unknown): (readonly [Container, string | number])[] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Container;
  const keys = Array.isArray(container) ? container.keys() : Object.keys(container);
  return [...keys].flatMap((key) => [[container, key] as const, ...placesIn((container as Record<string | number, unknown>)[key])]);
}
