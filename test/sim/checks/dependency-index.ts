/**
 * The table of dependencies, read both ways: each dependent of an object names it as a dependency, and the reverse. Each way has an index
 * of its own. An entry that is missing in one lets an object be deleted too early, or is missing in reports or in `kiln explain`.
 */
import { DEPENDENCIES } from '../../../src/blockers/dependencies.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';

export function dependencyIndexFindings(world: World): readonly Finding[] {
  return DEPENDENCIES.flatMap(({ on, dependent, dependents, dependsOn }) => {
    const [dependencyTable, dependentTable] = [world.tables[on], world.tables[dependent]];
    if (dependencyTable === undefined || dependentTable === undefined) return [];
    const found = (of: string, by: string, way: string): Finding => ({
      kind: `dependency ${on} ${dependent}`,
      message: `${dependent} ${by} depends on ${on} ${of} ${way}`,
    });
    // Each index is asked once for each object.
    const dependentsOf = new Map([...dependencyTable.keys()].map((key) => [key, new Set(world.set(dependents, key).all())]));
    const dependenciesOf = new Map([...dependentTable.keys()].map((key) => [key, new Set(dependsOn(world, key))]));
    return [
      ...[...dependentsOf].flatMap(([of, names]) =>
        [...names].filter((by) => dependenciesOf.get(by)?.has(of) === false).map((by) => found(of, by, 'by the index of dependents alone')),
      ),
      ...[...dependenciesOf].flatMap(([by, keys]) =>
        [...keys].filter((of) => dependentsOf.get(of)?.has(by) === false).map((of) => found(of, by, 'by the index of dependencies alone')),
      ),
    ];
  });
}
