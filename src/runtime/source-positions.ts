/** Positions in stacks of a built program: those in the sources, as its source maps say. */
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Maps are read when a stack is shown, and not kept: Node's own way, `--enable-source-maps`, takes 50 MB always. Not
 * `Error.prepareStackTrace` either: Node's streams ask each error that ends them for its stack.
 */
const KEPT_MS = 10_000;
const maps = new Map<string, SourceMap | undefined>();

/** Of what was thrown: its stack with positions in the sources, or its text. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? sourcePositions(thrown.stack ?? thrown.message) : String(thrown);
}

/** For the whole process: what Node prints of an error that ends it has positions in the sources. */
export function showSourcePositions(): void {
  process.on('uncaughtExceptionMonitor', (error: unknown) => {
    if (error instanceof Error) error.stack = stackOf(error);
  });
}

/** Replaces positions such as `file:///dist/kiln.mjs:3:14` of which a map knows the source. */
function sourcePositions(text: string): string {
  return text.replaceAll(/(file:\/\/[^\s()]+\.mjs):(\d+):(\d+)/g, (position, url: string, line: string, column: string) => {
    const origin = mapOf(url)?.findOrigin(Number(line), Number(column));
    return origin !== undefined && 'fileName' in origin ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}` : position;
  });
}

function mapOf(url: string): SourceMap | undefined {
  if (maps.has(url)) return maps.get(url);
  let map: SourceMap | undefined;
  try {
    map = new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    // A file without a map keeps its positions.
  }
  maps.set(url, map);
  setTimeout(() => maps.delete(url), KEPT_MS).unref();
  return map;
}
