import { ipKind } from '../../api/kinds/ip.ts';
import { validateIpCreate, validateIpUpdate } from '../../webhook/kinds/ip.ts';
import type { KindAdmission } from '../../webhook/protocol/kind-admission.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

// All IP objects: no label shows which client created one.
export const admission: KindAdmission = { ...ofKind(ipKind, validateIpCreate, validateIpUpdate), webhook: 'addresses' };
