import { iptablesEipKind } from '../../api/kinds/iptables-eip.ts';
import { validateIptablesEipCreate, validateIptablesEipUpdate } from '../../webhook/kinds/address-object.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';

export const admission = ofKind(iptablesEipKind, validateIptablesEipCreate, validateIptablesEipUpdate);
