/** Findings about the ConfigMap of the external gateway. */
import { EXTERNAL_GATEWAY_CONFIG } from '../../api/well-known.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import type { KeyProblem } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { commandText } from '../../text/command-text.ts';
import type { Settings } from '../../world/settings.ts';

/** @param next the command, if it is another one than that which edits the ConfigMap */
export function gatewayConfigFinding(settings: Settings, { key, value, problem, rule }: KeyProblem, next?: string): Finding {
  const { externalGatewayConfigNamespace: namespace } = settings;
  const edit = commandText`kubectl edit configmap -n ${namespace} ${EXTERNAL_GATEWAY_CONFIG}`;
  return findingOf(
    { kind: 'ConfigMap', namespace, name: EXTERNAL_GATEWAY_CONFIG },
    { code: 'ExternalGatewayConfigInvalid', field: `data.${key}`, value, problem, rule: `${rule}; ${next ?? edit}` },
  );
}
