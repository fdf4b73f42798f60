import { ovnEipKind } from '../../api/kinds/ovn-eip.ts';
import { validateOvnEipCreate, validateOvnEipUpdate } from '../../webhook/kinds/address-object.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

export const admission = ofKind(ovnEipKind, validateOvnEipCreate, validateOvnEipUpdate);
