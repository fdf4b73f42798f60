/**
 * Prints what the account of the node agents may change: `npm run --silent agent-policy > deploy/agent-policy.yaml`.
 */
import { agentPolicyYaml } from '../src/webhook/manifests/agent-policy.ts';

process.stdout.write(agentPolicyYaml());
