import { iptablesEipKind } from '../../api/kinds/iptables-eip.ts';
import { iptablesEipAddresses } from './table/iptables-eip-addresses.ts';
import { addressTable } from '../../world/kind-table.ts';

export const table = addressTable(iptablesEipKind, iptablesEipAddresses);
