/**
 * Prints the CustomResourceDefinitions: `npm run --silent crds > deploy/crds.yaml`.
 */
import { crdYaml } from '../src/api/kinds/crds.ts';

process.stdout.write(crdYaml());
