import { ovnEipKind } from '../../api/kinds/ovn-eip.ts';
import { ovnEipAddresses } from '../../world/address-objects.ts';
import { addressTable } from '../../world/kind-table.ts';

export const table = addressTable(ovnEipKind, ovnEipAddresses);
