import { vpcKind } from '../../api/kinds/vpc.ts';
import { validateVpcCreate, validateVpcUpdate } from '../../webhook/kinds/vpc.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

export const admission = ofKind(vpcKind, validateVpcCreate, validateVpcUpdate);
