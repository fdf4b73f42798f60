import type { Vlan } from '../../api/kinds/vlan.ts';
import { vlanKind } from '../../api/kinds/vlan.ts';
import type { AdmissionResult, Observed } from '../../webhook/protocol/admission-result.ts';
import { invalid } from '../../webhook/protocol/admission-result.ts';
import { ofKind } from '../../webhook/protocol/kind-admission.ts';
import { vlanProvider, vlanTag } from './resource/vlan-fields.ts';
import { networkMissing, vlansWithTag, tagTaken } from './rules/vlan-state.ts';

export const admission = ofKind(
  vlanKind,
  (vlan, observed) => resultOf(vlan, observed),
  (before, after, observed) => (tagOf(before) === tagOf(after) ? { denials: [], warnings: [] } : resultOf(after, observed)),
);

/** A ProviderNetwork that does not exist yet is no error: manifests come in any order. */
function resultOf({ metadata: { name }, spec }: Vlan, { world, complete }: Observed): AdmissionResult {
  if (!complete) return { denials: [], warnings: [] };
  const [provider, tag] = [vlanProvider(spec), vlanTag(spec)];
  const [other] = tag === 0 ? [] : vlansWithTag(world, provider, tag).filter((one) => one !== name);
  const missing = world.providerNetworks.has(provider) ? [] : [networkMissing(name, provider).message];
  return { denials: other === undefined ? [] : [invalid(tagTaken(name, provider, tag, other))], warnings: missing };
}

function tagOf({ spec }: Vlan): string {
  return `${vlanProvider(spec)} ${vlanTag(spec)}`;
}
