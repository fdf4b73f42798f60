/**
 * CustomResourceDefinitions that are older than Kiln: the status fields that they lack, which the API server prunes. For processes that
 * write nothing and so learn nothing from answers.
 */
import { allKinds } from '../../api/kinds/crds.ts';
import { GROUP, VERSION } from '../../api/schema/kind.ts';
import type { SchemaNode } from '../../api/schema/schema.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { DEFINITIONS } from '../../kube/cache/definition-watch.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';

/** What another program may have installed. */
interface OtherSchema {
  readonly properties?: Readonly<Record<string, OtherSchema>>;
  readonly items?: OtherSchema;
  readonly additionalProperties?: unknown;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface Definition extends KubeObject {
  readonly spec: {
    readonly versions: readonly { readonly name: string; readonly schema?: { readonly openAPIV3Schema?: OtherSchema } }[];
  };
}

/**
 * Reads the definitions of these kinds, one request each, and puts what they lack into `world.pruned`. Without the right to read one,
 * nothing is known of it.
 * @throws KubeError for any other failure
 */
export async function readOlderDefinitions(client: KubeClient, world: World, resources: Iterable<ResourceName>): Promise<void> {
  await Promise.all(
    [...new Set(resources)].map(async (resource) => {
      const kind = allKinds.find(({ plural }) => plural === resource);
      if (kind?.status === undefined) return;
      const definition = await definitionOf(client, resource);
      const schema = definition?.spec.versions.find(({ name }) => name === VERSION)?.schema?.openAPIV3Schema;
      if (schema !== undefined) world.pruned.add(resource, missingIn(schema.properties?.['status'], kind.status.node, 'status'));
    }),
  );
}

async function definitionOf(client: KubeClient, resource: ResourceName): Promise<Definition | undefined> {
  try {
    return await client.find<Definition>(DEFINITIONS, { name: `${resource}.${GROUP}` });
  } catch (error) {
    if (isKubeError(error, 'KUBE_FORBIDDEN')) return undefined;
    throw error;
  }
}

/** Paths of the fields of `ours` that the other schema lacks. */
function missingIn(theirs: OtherSchema | undefined, ours: SchemaNode, path: string): readonly string[] {
  if (theirs === undefined) return [path];
  if (theirs['x-kubernetes-preserve-unknown-fields'] === true) return [];
  if (ours.items !== undefined) return theirs.items === undefined ? [] : missingIn(theirs.items, ours.items, `${path}[]`);
  if (theirs.additionalProperties !== undefined) return [];
  return Object.entries(ours.properties ?? {}).flatMap(([name, node]) => missingIn(theirs.properties?.[name], node, `${path}.${name}`));
}
