import { join } from 'node:path';

/**
 * The command line that tests start as processes of their own: the built one, as users have it, in a run of `npm test`, which builds it first and
 * names it; it starts in half the time. Otherwise that of the sources.
 */
export const PROGRAM_UNDER_TEST = process.env['TEST_PROGRAM'] ?? join(import.meta.dirname, '../cli/main.ts');
