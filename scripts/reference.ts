/**
 * Prints the reference page: `npm run --silent reference > docs/reference.md`.
 */
import { referencePage } from './reference/page.ts';

process.stdout.write(referencePage());
