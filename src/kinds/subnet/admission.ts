import { subnetKind } from '../../api/kinds/subnet.ts';
import { validateSubnetCreate, validateSubnetUpdate } from '../../webhook/kinds/subnet.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

export const admission = ofKind(subnetKind, validateSubnetCreate, validateSubnetUpdate);
