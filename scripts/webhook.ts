/**
 * Prints the Service, configuration and rights of the admission webhook: `npm run --silent webhook > deploy/webhook.yaml`.
 */
import { UNIMPLEMENTED_KINDS } from '../src/controller/reading/unimplemented-kinds.ts';
import { webhookYaml } from '../src/webhook/manifests/webhook-configuration.ts';

process.stdout.write(webhookYaml(UNIMPLEMENTED_KINDS.map(({ resource }) => resource)));
