import { readFileSync } from 'node:fs';

/** Units of the times in /proc: 100 a second on every Linux that Node runs on. */
const TICKS = 100;

/** Seconds of processor time of this process and of all descendants that it waited for. Without /proc, its own only. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childrenSeconds();
}

function childrenSeconds(): number {
  try {
    // Fields 14 and 15 of proc(5), counted after the program's name: that is in brackets, and may contain anything.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS;
  } catch {
    return 0;
  }
}
