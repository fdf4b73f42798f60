/**
 * Objects that every cluster has: Kiln creates them, and creates them again after a deletion. The cluster needs the default Vpc and the
 * join Subnet: while it has nodes, their deletion waits, and they take new dependents meanwhile.
 */
import type { ResourceName } from './resources.ts';
import type { Settings } from './settings.ts';

export type BuiltIn = 'default Vpc' | 'join Subnet' | 'default Subnet';

/** Undefined for an object that only users create. */
export function builtInOf({ defaultVpc, defaultSubnet, joinSubnet }: Settings, resource: ResourceName, key: string): BuiltIn | undefined {
  if (resource === 'vpcs') return key === defaultVpc ? 'default Vpc' : undefined;
  if (resource !== 'subnets') return undefined;
  return key === joinSubnet ? 'join Subnet' : key === defaultSubnet ? 'default Subnet' : undefined;
}

export function isNeededByCluster(builtIn: BuiltIn | undefined): boolean {
  return builtIn === 'default Vpc' || builtIn === 'join Subnet';
}
