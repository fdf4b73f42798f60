#!/usr/bin/env node
/** The command line of a built program (`npm run build`). */
import { showSourcePositions } from '../runtime/source-positions.ts';

showSourcePositions();
await import('./main.ts');
