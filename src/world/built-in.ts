/**
 * What every cluster has, and Kiln makes again when it is gone. The cluster stands on the default Vpc and the join Subnet: while it has
 * nodes the deletion of these cannot be carried out, and they refuse nobody meanwhile.
 */
import type { ResourceName } from './resources.ts';
import type { Settings } from './settings.ts';

export type BuiltIn = 'default Vpc' | 'join Subnet' | 'default Subnet';

/** Undefined for an object that only people make. */
export function builtInOf({ defaultVpc, defaultSubnet, joinSubnet }: Settings, resource: ResourceName, key: string): BuiltIn | undefined {
  if (resource === 'vpcs') return key === defaultVpc ? 'default Vpc' : undefined;
  if (resource !== 'subnets') return undefined;
  return key === joinSubnet ? 'join Subnet' : key === defaultSubnet ? 'default Subnet' : undefined;
}

/** Whether the cluster stands on it. */
export function bearsCluster(builtIn: BuiltIn | undefined): boolean {
  return builtIn === 'default Vpc' || builtIn === 'join Subnet';
}
