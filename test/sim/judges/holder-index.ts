/**
 * The table of dependencies, read both ways: each dependent of an object names it as a dependency, and the reverse. Each way has an index
 * of its own. An entry that is missing in one lets an object be deleted too early, or is missing in reports or in `kiln explain`.
 */
import { DEPENDENCIES } from '../../../src/blockers/dependencies.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './judge.ts';

export function holdsBothWays(world: World): readonly Finding[] {
  return DEPENDENCIES.flatMap(({ on: held, dependent: holder, dependents: holders, dependsOn: holds }) => {
    const [below, above] = [world.tables[held], world.tables[holder]];
    if (below === undefined || above === undefined) return [];
    const found = (of: string, by: string, way: string): Finding => ({
      kind: `hold ${held} ${holder}`,
      message: `${held} ${of} is held by ${holder} ${by} ${way}`,
    });
    // Each index is asked once for each object.
    const heldBy = new Map([...below.keys()].map((key) => [key, new Set(world.set(holders, key).all())]));
    const holding = new Map([...above.keys()].map((key) => [key, new Set(holds(world, key))]));
    return [
      ...[...heldBy].flatMap(([of, names]) =>
        [...names].filter((by) => holding.get(by)?.has(of) === false).map((by) => found(of, by, 'alone by who asks for its holders')),
      ),
      ...[...holding].flatMap(([by, keys]) =>
        [...keys].filter((of) => heldBy.get(of)?.has(by) === false).map((of) => found(of, by, 'alone by who asks for what that holds')),
      ),
    ];
  });
}
