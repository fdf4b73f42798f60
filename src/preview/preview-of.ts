/** A preview of what another World holds now. That World goes on; what happens in memory does not reach it. */
import { fileObject } from '../controller/reading/observed-objects.ts';
import type { Replica } from '../ovsdb/index.ts';
import type { DatabaseSchema } from '../ovsdb/schema.ts';
import { RESOURCE_NAMES } from '../world/resources.ts';
import { World } from '../world/world.ts';
import { Preview } from './preview.ts';

/**
 * @param rows of the same moment: nothing is awaited between the two
 * @param now RFC 3339
 */
export function previewOf(observed: World, rows: Replica, schema: DatabaseSchema, now: string): Preview {
  const world = new World(observed.settings);
  for (const resource of RESOURCE_NAMES)
    for (const [key, object] of observed.tables[resource]?.entries() ?? []) fileObject(world, resource, key, object);
  // Kinds without a table of their own.
  for (const [key, object] of observed.unimplemented.entries()) world.unimplemented.set(key, object);
  for (const [resource, paths] of observed.pruned.entries) world.pruned.add(resource, paths);
  world.deadlines.advance(Date.parse(now));
  return new Preview({ world, rows, schema, now });
}
