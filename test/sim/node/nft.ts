/** `nft` on a simulated kernel: tables as texts, and rules with handles in chains of other programs. */
import { type Hand, KernelError, type SimulatedKernel } from './kernel.ts';

const MISSING = 'Error: No such file or directory';

/** @returns what it prints. @throws KernelError with what it prints on standard error; then nothing has changed */
export function nft(kernel: SimulatedKernel, args: readonly string[], input: string, by: Hand, note: (what: string) => void): string {
  const [verb, what, family = '', name = '', chain = ''] = args.filter((arg) => !arg.startsWith('-') || arg === '-');
  if (args.includes('-f')) {
    script(kernel, input, by, note);
    return '';
  }
  if (verb === 'list' && what === 'tables') return [...kernel.tables.keys()].map((key) => `table ${key}\n`).join('');
  const key = `${family} ${name}`;
  const table = kernel.tables.get(key);
  if (verb === 'delete' && what === 'table') {
    if (!kernel.tables.delete(key)) throw new KernelError(MISSING);
    return '';
  }
  if (table === undefined) throw new KernelError(MISSING);
  if (verb === 'list' && what === 'table') return `table ${key} {\n${table.text}\n}\n`;
  if (verb === 'list' && what === 'chain') return chainOf(table.text, chain);
  note(`nft ${args.join(' ')}`);
  return '';
}

/** One transaction: all lines, or none. */
function script(kernel: SimulatedKernel, input: string, by: Hand, note: (what: string) => void): void {
  const draft = new Map(kernel.tables);
  const lines = input.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim();
    const [verb, object, family = '', name = ''] = line.split(/\s+/);
    const key = `${family} ${name}`;
    const block = /^table (\S+ \S+) \{$/.exec(line);
    if (line === '') continue;
    if (block !== null) {
      const end = endOf(lines, at);
      const text = lines.slice(at + 1, end).join('\n');
      const before = draft.get(block[1] ?? '');
      draft.set(block[1] ?? '', { by: before?.by ?? by, text: [before?.text ?? '', text].filter((one) => one !== '').join('\n') });
      at = end;
    } else if (verb === 'add' && object === 'table') draft.set(key, draft.get(key) ?? { by, text: '' });
    else if (verb === 'delete' && object === 'table') {
      if (!draft.delete(key)) throw new KernelError(MISSING);
    } else if (object === 'rule') draft.set(key, changedRule(draft.get(key), line));
    else note(`nft -f: ${line}`);
  }
  kernel.tables.clear();
  for (const [key, table] of draft) kernel.tables.set(key, table);
}

/** Of the block that begins at that line. */
function endOf(lines: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim();
    depth += line.endsWith('{') ? 1 : line === '}' ? -1 : 0;
    if (depth === 0) return at;
  }
  throw new KernelError('Error: syntax error, unexpected end of file');
}

type Tables = SimulatedKernel['tables'];
type FilterTable = NonNullable<ReturnType<Tables['get']>>;

/** `insert rule ip filter FORWARD position 4 …`, `add rule ip filter FORWARD …`, or `delete rule ip filter FORWARD handle 5`; rules are kept with their handle. */
function changedRule(table: FilterTable | undefined, line: string): FilterTable {
  const [verb, , , , chain = '', ...words] = line.split(/\s+/);
  if (table === undefined) throw new KernelError(MISSING);
  const lines = table.text.split('\n');
  const head = lines.indexOf(`  chain ${chain} {`);
  if (head < 0) throw new KernelError(MISSING);
  const withHandle = (handle: string | undefined): number => {
    const found = lines.findIndex((one) => one.endsWith(`# handle ${handle}`));
    if (found < 0) throw new KernelError(MISSING);
    return found;
  };
  if (verb === 'delete') return { ...table, text: lines.toSpliced(withHandle(words.at(-1)), 1).join('\n') };
  const [keyword, position, ...behind] = words;
  const isPlaced = keyword === 'position';
  const at = isPlaced ? withHandle(position) : verb === 'add' ? lines.indexOf('  }', head) : head + 1;
  const handle = Math.max(0, ...lines.map((one) => Number(/# handle (\d+)$/.exec(one)?.[1] ?? 0))) + 1;
  return { ...table, text: lines.toSpliced(at, 0, `    ${(isPlaced ? behind : words).join(' ')} # handle ${handle}`).join('\n') };
}

function chainOf(text: string, chain: string): string {
  const lines = text.split('\n');
  const head = lines.indexOf(`  chain ${chain} {`);
  if (head < 0) throw new KernelError(MISSING);
  return lines.slice(head, lines.indexOf('  }', head) + 1).join('\n');
}
