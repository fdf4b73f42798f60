import { kilnAnnotation } from '../../api/well-known.ts';
import { addressRights } from '../vip/rights/address-rights.ts';

export const rights = addressRights('ovn-eips', ['externalSubnet', 'v4Ip', 'v6Ip', 'macAddress', 'type'], [], kilnAnnotation.portOf);
