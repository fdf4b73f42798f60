import type { ProviderNetworkSpec } from '../../../api/kinds/provider-network.ts';
import { selectorProblem } from '../../../api/kubernetes/label-selector.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { Findings } from '../../../api/validation/finding.ts';
import { INTEGRATION_BRIDGE } from '../../../api/well-known.ts';
import { LONGEST_DEVICE, providerBridge } from './node-network.ts';

/** The rules that a network breaks: by its name, or by its spec. */
export function providerNetworkFindings(name: string, { nodeSelector }: ProviderNetworkSpec): readonly Finding[] {
  const findings = new Findings({ kind: 'ProviderNetwork', name });
  const bridge = providerBridge(name);
  if (bridge.length > LONGEST_DEVICE)
    findings.add({
      code: 'ProviderNetworkNameTooLong',
      field: 'metadata.name',
      value: name,
      problem: `has ${name.length} characters`,
      rule: `its bridge ${bridge} is a device of each node, and the name of one has at most ${LONGEST_DEVICE}`,
    });
  if (bridge === INTEGRATION_BRIDGE)
    findings.add({
      code: 'ProviderNetworkNameReserved',
      field: 'metadata.name',
      value: name,
      problem: `would have bridge ${bridge}`,
      rule: 'that is the bridge of OVN on each node: use another name',
    });
  const problem = nodeSelector === undefined ? undefined : selectorProblem(nodeSelector);
  if (problem !== undefined)
    findings.add({
      code: 'Invalid',
      field: 'spec.nodeSelector',
      value: JSON.stringify(nodeSelector),
      problem,
      rule: 'operators are In and NotIn, with values, and Exists and DoesNotExist, without',
    });
  return findings.list;
}
