/** Colours on a terminal that supports them. They only repeat information that the text has too. */
import { styleText } from 'node:util';
import type { Paint } from '../../explain/tree-text.ts';
import { PLAIN } from '../../explain/tree-text.ts';

export const COLOR_MODES = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

const FORMATS = { ready: 'green', notReady: 'red', dim: 'dim' } as const;

export function painter(mode: ColorMode, stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Paint {
  const wanted = mode === 'always' || (mode === 'auto' && stream.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb');
  return wanted ? (style, text) => styleText(FORMATS[style], text, { validateStream: false }) : PLAIN;
}
