import { ovnEipKind } from '../../api/kinds/ovn-eip.ts';
import { ovnEipAddresses } from './table/ovn-eip-addresses.ts';
import { addressTable } from '../../world/kind-table.ts';

export const table = addressTable(ovnEipKind, ovnEipAddresses);
