import { vipKind } from '../../api/kinds/vip.ts';
import { vipAddresses } from './table/vip-addresses.ts';
import { addressTable } from '../../world/kind-table.ts';

export const table = addressTable(vipKind, vipAddresses);
