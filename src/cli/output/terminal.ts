/**
 * The boundary to a person: what commands print goes through here, so that no name, annotation or message of others moves the cursor, makes
 * a line of its own or hides a character. Texts for programs were escaped by the rules of their format, and pass as they are.
 */
import type { PaintedLine } from '../../explain/tree-text.ts';
import { visible, visibleLines } from '../../text/visible-text.ts';
import { glyphs } from './glyphs.ts';

/** A line for a person; one with colours was made visible before it was painted. */
export type Line = string | PaintedLine;

/** A text for programs, or lines for a person. */
export type Output = string | readonly Line[];

/** One line without its end. */
export function lineText(line: Line, env?: NodeJS.ProcessEnv): string {
  return glyphs(typeof line === 'string' ? visible(line) : line.painted, env);
}

/** As it is written to standard output. */
export function outputText(output: Output): string {
  return typeof output === 'string' ? visibleLines(output) : output.map((line) => `${lineText(line)}\n`).join('');
}

/** Results, on standard output. */
export function print(output: Output): void {
  process.stdout.write(outputText(output));
}

/** A line for a person on standard error. */
export function tell(line: Line): void {
  process.stderr.write(`${lineText(line)}\n`);
}

/** A text of Kiln's own lines, such as a stack or a help: what is in these is made visible, their ends stay. */
export function tellAll(text: string): void {
  process.stderr.write(`${glyphs(visibleLines(text.trimEnd()))}\n`);
}
