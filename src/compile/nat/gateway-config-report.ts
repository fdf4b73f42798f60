/**
 * What is wrong with the ConfigMap of the external gateway. A ConfigMap has no conditions: the default Vpc has them, and Events tell those
 * who look at the ConfigMap.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { commandText } from '../../text/command-text.ts';
import { ONCE } from '../../engine/domain.ts';
import { enabledGatewayConfig, externalGatewayConfig, gatewayConfigKey } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { configuredPort } from '../../world/external-subnets.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { externalProblem, reservationProblem } from './external-problem.ts';
import { nodeChassis } from '../node/node-chassis.ts';
import { nextHopProblems } from './gateway-next-hop.ts';
import { gatewayConfigFinding } from './gateway-config-finding.ts';

export const gatewayConfigReport: Rule = {
  name: 'gateway-config-report',
  over: () => ONCE,
  run: (world) => {
    const config = world.ask(externalGatewayConfig, '');
    if (config === undefined) return [];
    const { defaultVpc, externalSubnet } = world.settings;
    const problem =
      configuredPort(world, defaultVpc, externalSubnet) === undefined
        ? undefined
        : (externalProblem(world, defaultVpc, externalSubnet) ?? reservationProblem(world, defaultVpc, externalSubnet));
    const findings = gatewayConfigFindings(world).map(({ code, message }) => ({ reason: code, message }));
    return [...(problem === undefined ? [] : [problem]), ...findings].map(({ reason, message }) => ({
      ...({ kind: 'report', resource: 'configmaps', key: gatewayConfigKey(world.settings), uid: config.uid } as const),
      ...({ type: 'Warning', reason, message } as const),
    }));
  },
};

/** What of it has no effect, while the rest is in effect. Empty if it is turned off. */
export function gatewayConfigFindings(world: World): readonly Finding[] {
  const config = enabledGatewayConfig(world);
  if (config === undefined) return [];
  const { settings } = world;
  const nodes = config.nodes.flatMap((name) => {
    const problem = (text: string, rule: string, next?: string): readonly Finding[] => [
      gatewayConfigFinding(settings, { key: 'external-gw-nodes', value: name, problem: text, rule }, next),
    ];
    if (!world.ask(nodeExists, name)) return problem('names no Node that exists', 'the other nodes are gateway nodes without it');
    if (world.ask(nodeChassis, name) !== '') return [];
    return problem('has no chassis yet', 'its agent writes it, and then it is a gateway node', commandText`kubectl describe node ${name}`);
  });
  return [...[...config.ineffective, ...nextHopProblems(world)].map((problem) => gatewayConfigFinding(settings, problem)), ...nodes];
}

const nodeExists: Query<boolean> = defineQuery('gateway-node-exists', (world, name) => world.nodes.has(name));
