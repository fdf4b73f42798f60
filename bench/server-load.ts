/** The requests to an API server in a period, by its own metrics, and the processor time of the programs that share the machine with it. */
import { readFile } from 'node:fs/promises';
import type { KubeClient } from '../src/kube/client/client.ts';

/** By verb and kind, as `patch pods/status`. */
export type RequestCounts = ReadonlyMap<string, number>;

const COUNT = /^apiserver_request_total\{(.*)\} (\S+)$/;
/** Verbs whose cost is one request each; a watch is counted only when it ends. */
const COUNTED: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE', 'GET', 'LIST', 'DELETECOLLECTION']);

export async function requestCounts(client: KubeClient): Promise<RequestCounts> {
  const text = await client.transport.text({ subject: { verb: 'get', resource: 'metrics' }, method: 'GET', path: '/metrics' });
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, labels = '', value] = COUNT.exec(line) ?? [];
    if (value === undefined) continue;
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const [verb, resource, subresource] = [label('verb'), label('resource'), label('subresource')];
    if (!COUNTED.has(verb) || resource === '') continue;
    const what = `${verb.toLowerCase()} ${resource}${subresource === '' ? '' : `/${subresource}`}`;
    counts.set(what, (counts.get(what) ?? 0) + Number(value));
  }
  return counts;
}

/** The requests between two counts, most frequent first. */
export function requestsBetween(before: RequestCounts, after: RequestCounts): readonly (readonly [what: string, count: number])[] {
  return [...after]
    .map(([what, count]) => [what, count - (before.get(what) ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a);
}

/** Ticks a second in which Linux reports processor time (USER_HZ). */
const TICKS = 100;

/** Milliseconds of processor time of a process; 0 if it has ended. */
export async function processorTime(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name may contain anything, so fields are counted after it: 14 and 15 of proc(5).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1_000) / TICKS;
}
