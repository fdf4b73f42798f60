/**
 * The table of what holds what, read both ways: who is held by an object is among those whom that holds. Each way asks an index of its own; what one
 * of them leaves out goes too early, is not told, or is not in what `kiln explain` says.
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
    // Each is asked once, however many it holds.
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
