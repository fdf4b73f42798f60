/** Text of several words as lines that fit a terminal. A longer word, such as the name of an object, stays whole. */
export function wrapped(text: string, columns: number, indent = ''): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > columns) {
      lines.push(`${indent}${line}`);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, `${indent}${line}`];
}
