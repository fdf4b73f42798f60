/** Set-up cannot go on; the message is the whole text that a person reads. */
export class SetupError extends Error {
  override name = 'SetupError';
}

const started = Date.now();

/** One line of progress, with the seconds since set-up began. Standard output stays free for the program's own. */
export function progress(text: string): void {
  const seconds = ((Date.now() - started) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`[setup ${seconds} s] ${text}\n`);
}
