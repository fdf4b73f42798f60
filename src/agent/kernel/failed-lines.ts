/** Which lines of `ip -force -batch` failed, and why. Each line is carried out, whatever became of those before it. */

/**
 * `RTNETLINK answers: File exists`, and after it `Command failed -:3`.
 * @param first how `ip` counts the first line
 * @returns reasons by the number of the line, from 0
 */
export function failedLines(message: string, first = 1): ReadonlyMap<number, string> {
  const failed = new Map<number, string>();
  let reason: string[] = [];
  for (const line of message.split('\n')) {
    const number = /^Command failed \S*:(\d+)$/.exec(line.trim())?.[1];
    if (number === undefined) reason.push(line.trim());
    else {
      failed.set(Number(number) - first, reason.join('; '));
      reason = [];
    }
  }
  return failed;
}

/** Each line that failed with its own reason; empty if none did. */
export function failureText(lines: readonly string[], failed: ReadonlyMap<number, string>): string {
  return lines
    .flatMap((line, at) => {
      const reason = failed.get(at);
      return reason === undefined ? [] : [`ip ${line}: ${reason}`];
    })
    .join('; ');
}
