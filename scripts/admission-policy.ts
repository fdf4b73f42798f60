/**
 * Prints what the controller's account may change: `npm run --silent admission-policy > deploy/admission-policy.yaml`.
 */
import { admissionPolicyYaml } from '../src/webhook/manifests/account-policy.ts';

process.stdout.write(admissionPolicyYaml());
