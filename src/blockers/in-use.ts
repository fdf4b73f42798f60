import type { DeclaredQuery } from '../world/world.ts';
import { declareQuery } from '../world/world.ts';

/** Whether an object has blockers. Key: `<resource>/<key>`. A dependency may ask this of a dependent; the table of dependencies defines it. */
export const isInUse: DeclaredQuery<boolean> = declareQuery('in-use');
