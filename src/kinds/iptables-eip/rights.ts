import { addressRights } from '../vip/rights/address-rights.ts';

export const rights = addressRights('iptables-eips', ['externalSubnet', 'v4ip', 'macAddress']);
