/** Whether output has colours. A command that asks a controller loads nothing else of them. */
export const COLOR_MODES = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

export function hasColors(
  mode: ColorMode,
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return mode === 'always' || (mode === 'auto' && stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb');
}
