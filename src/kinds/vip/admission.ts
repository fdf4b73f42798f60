import { vipKind } from '../../api/kinds/vip.ts';
import { validateVipCreate, validateVipUpdate } from '../../webhook/kinds/address-object.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

export const admission = ofKind(vipKind, validateVipCreate, validateVipUpdate);
