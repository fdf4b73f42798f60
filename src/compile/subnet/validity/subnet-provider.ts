/** A Subnet for attachments with a missing network, or one of another provider: no pod ever gets its addresses. */
import type { Finding } from '../../../api/validation/finding.ts';
import { findingOf } from '../../../api/validation/finding.ts';
import { attachmentOfProvider } from '../../../api/names.ts';
import type { World } from '../../../world/world.ts';
import { attachment } from '../../pod/interface/network-attachment.ts';

/** @param provider as in the spec */
export function networkMissing(world: World, subnet: string, provider: string): readonly Finding[] {
  const named = attachmentOfProvider(provider);
  if (named === undefined) return [];
  const { namespace, name } = named;
  const kind = world.ask(attachment, `${namespace}/${name}`);
  if (kind === 'unreadable' || kind === named.kind) return [];
  const asks = kind === 'ovn' ? `${name}.${namespace}.ovn` : `${name}.${namespace}`;
  const network = `NetworkAttachmentDefinition ${namespace}/${name}`;
  const [problem, rule] =
    kind === undefined
      ? [`names ${network}, which does not exist`, 'no pod is attached to the Subnet until it exists']
      : kind === 'foreign'
        ? [`names ${network}, whose addresses come from elsewhere`, 'its spec.config names kube-ovn as type, or as ipam.type']
        : [
            `names ${network}, which asks for provider ${asks}`,
            `a pod has the addresses of a Subnet whose provider is that of its network`,
          ];
  return [findingOf({ kind: 'Subnet', name: subnet }, { code: 'NetworkMissing', field: 'spec.provider', value: provider, problem, rule })];
}
