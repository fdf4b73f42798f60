/**
 * The boundary to the user's terminal: everything that commands print passes here, so that no name, annotation or message of a tenant can
 * move the cursor, add a line or hide a character. Texts for programs are already escaped by the rules of their format, and pass unchanged.
 */
import type { PaintedLine } from '../../explain/tree-text.ts';
import { visible, visibleLines } from '../../text/visible-text.ts';
import { glyphs } from './glyphs.ts';

/** A line for the user. In a painted line, control characters were made visible before the colours were added. */
export type Line = string | PaintedLine;

/** A text for programs, or lines for the user. */
export type Output = string | readonly Line[];

/** One line without its line end. */
export function lineText(line: Line, env?: NodeJS.ProcessEnv): string {
  return glyphs(typeof line === 'string' ? visible(line) : line.painted, env);
}

/** The text for standard output. */
export function outputText(output: Output): string {
  return typeof output === 'string' ? visibleLines(output) : output.map((line) => `${lineText(line)}\n`).join('');
}

/** Prints a result on standard output. */
export function print(output: Output): void {
  process.stdout.write(outputText(output));
}

/** Prints a line for the user on standard error. */
export function printError(line: Line): void {
  process.stderr.write(`${lineText(line)}\n`);
}

/** Prints a text of several lines, such as a stack or a help. Control characters within lines are made visible; line ends stay. */
export function printErrorText(text: string): void {
  process.stderr.write(`${glyphs(visibleLines(text.trimEnd()))}\n`);
}
