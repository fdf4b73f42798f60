import { providerNetworkKind } from '../../api/kinds/provider-network.ts';
import { invalid, newFindings } from '../../webhook/protocol/admission-result.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';
import { providerNetworkFindings } from './resource/provider-network-findings.ts';

export const admission = ofKind(
  providerNetworkKind,
  ({ metadata: { name }, spec }) => ({ denials: providerNetworkFindings(name, spec).map(invalid), warnings: [] }),
  (before, { metadata: { name }, spec }) => ({
    denials: newFindings(providerNetworkFindings(name, spec), providerNetworkFindings(name, before.spec)).map(invalid),
    warnings: [],
  }),
);
