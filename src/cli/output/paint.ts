/** Colours on a terminal that supports them. They only repeat information that the text has too. */
import { styleText } from 'node:util';
import type { Paint } from '../../explain/tree-text.ts';
import { PLAIN } from '../../explain/tree-text.ts';
import type { ColorMode } from './has-colors.ts';
import { hasColors } from './has-colors.ts';

const FORMATS = { ready: 'green', notReady: 'red', dim: 'dim' } as const;

export function painter(mode: ColorMode, stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv = process.env): Paint {
  return hasColors(mode, stream, env) ? (style, text) => styleText(FORMATS[style], text, { validateStream: false }) : PLAIN;
}
