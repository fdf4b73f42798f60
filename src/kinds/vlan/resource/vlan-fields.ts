/** The fields of a Vlan in effect: older releases of Kube-OVN had other names for them. */
import type { VlanSpec } from '../../../api/kinds/vlan.ts';
import { DEFAULT_PROVIDER_NETWORK } from '../../../api/well-known.ts';

/** Its tag; 0 is untagged. */
export function vlanTag({ id = 0, vlanId = 0 }: VlanSpec): number {
  return id === 0 ? vlanId : id;
}

/** The name of its ProviderNetwork. */
export function vlanProvider({ provider, providerInterfaceName = '' }: VlanSpec): string {
  if (provider !== '') return provider;
  return providerInterfaceName === '' ? DEFAULT_PROVIDER_NETWORK : providerInterfaceName;
}
