import { ipPoolKind } from '../../api/kinds/ip-pool.ts';
import { validateIpPoolCreate, validateIpPoolUpdate } from '../../webhook/kinds/ip-pool.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

export const admission = ofKind(ipPoolKind, validateIpPoolCreate, validateIpPoolUpdate);
