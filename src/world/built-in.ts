/**
 * Objects that every cluster has: Kiln creates them, and creates them again after a deletion. Some the cluster needs: while it has nodes,
 * their deletion waits, and they take new dependents meanwhile. Their kinds say in their records which ones they are.
 */
import type { BuiltIn, BuiltInSetting } from '../api/schema/resource.ts';
import type { ResourceName } from './resources.ts';
import { RESOURCE_NAMES, traitsOf } from './resources.ts';
import type { Settings } from './settings.ts';

/** Undefined for an object that only users create. */
export function builtInOf(settings: Settings, resource: ResourceName, key: string): BuiltIn | undefined {
  const all = Object.entries(traitsOf(resource).builtIn ?? {}) as readonly [BuiltInSetting, BuiltIn][];
  return all.find(([setting]) => settings[setting] === key)?.[1];
}

export function isNeededByCluster(builtIn: BuiltIn | undefined): boolean {
  return builtIn === 'needed';
}

/** The object on which is reported what concerns the cluster as a whole: the default Vpc. */
export function clusterObject({ defaultVpc }: Settings): { readonly resource: ResourceName; readonly key: string } {
  return { resource: REPORTED_ON, key: defaultVpc };
}

const REPORTED_ON = RESOURCE_NAMES.find((resource) => traitsOf(resource).builtIn?.defaultVpc !== undefined) as ResourceName;
