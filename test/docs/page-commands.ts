/** The commands of a page: the lines of its fenced blocks without a language, without comments and prompts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PageCommand {
  readonly page: string;
  /** On one line, but for its input. */
  readonly text: string;
  /** Of a here-document; undefined if there is none. */
  readonly input: string | undefined;
}

const ROOT = join(import.meta.dirname, '../..');

export function pageCommands(page: string): readonly PageCommand[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return blocksOf(text).flatMap((lines) => {
    // A block with prompts shows output as well.
    const typed = lines.some((line) => line.startsWith('$ '))
      ? lines.flatMap((line) => (line.startsWith('$ ') ? [line.slice(2)] : []))
      : lines;
    return commandsOf(page, typed);
  });
}

/** The lines of each fenced block without a language. */
function blocksOf(text: string): readonly (readonly string[])[] {
  const blocks: string[][] = [];
  let language: string | undefined;
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)$/.exec(line)?.[1];
    if (fence === undefined) {
      if (language === '') blocks.at(-1)?.push(line);
    } else if (language !== undefined) language = undefined;
    else {
      language = fence;
      blocks.push([]);
    }
  }
  return blocks;
}

function commandsOf(page: string, lines: readonly string[]): readonly PageCommand[] {
  const found: PageCommand[] = [];
  for (let at = 0; at < lines.length; at++) {
    let line = lines[at] ?? '';
    const end = /<<(\w+)\s*$/.exec(line)?.[1];
    if (end !== undefined) {
      const until = lines.indexOf(end, at);
      found.push({ page, text: line.replace(/\s*<<\w+\s*$/, ''), input: lines.slice(at + 1, until).join('\n') });
      at = until;
      continue;
    }
    // A quoted text may go over several lines.
    while (isOpen(line) && at + 1 < lines.length) line = `${line} ${(lines[++at] ?? '').trim()}`;
    for (const part of withoutComment(line).split(' && '))
      if (part.trim() !== '') found.push({ page, text: part.trim(), input: undefined });
  }
  return found;
}

function isOpen(line: string): boolean {
  return (line.match(/'/g) ?? []).length % 2 === 1 && !/ #/.test(line);
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#\s.*$/, '');
}

/** The words of a command, with quotes taken off. It has no other syntax of a shell. */
export function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}
