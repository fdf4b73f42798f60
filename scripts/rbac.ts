/**
 * Prints the rights of the controller's account: `npm run --silent rbac > deploy/rbac.yaml`.
 */
import { rbacYaml } from '../src/webhook/manifests/account-role.ts';

process.stdout.write(rbacYaml());
