import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type Conversation, IpConversation } from './conversation.ts';
import { programEnvironment } from './program-environment.ts';
import { endedBySignal, type Ran, type Words } from './ran.ts';

/** What a program that goes on says. */
export interface Watching {
  readonly line: (text: string) => void;
  /** On standard error: it may have missed something. */
  readonly warned: (text: string) => void;
  /** Called once, and never after it was told to end. */
  readonly ended: (reason: string) => void;
}

/** Runs programs of the host: arguments are a list, and no shell reads them. */
export interface Programs {
  run(command: Words, input?: string): Promise<Ran>;
  /** @param command `ip -force -batch -`, also within another program */
  converse(command: Words): Conversation;
  /** Runs a program until it ends by itself. @returns ends it */
  watch(command: Words, watching: Watching): () => void;
  /** Between two programs. */
  sleep(ms: number): Promise<void>;
}

const TIMEOUT_MS = 20_000;
const MOST_BYTES = 16 * 1024 * 1024;
/** Programs that run at once: more would only wait for each other in the kernel. */
const MOST_AT_ONCE = 8;

let running = 0;
const waiting: (() => void)[] = [];

export const hostPrograms: Programs = {
  sleep: (ms) => setTimeout(ms),
  converse: (command) => new IpConversation(command),
  async run(command, input = '') {
    if (running >= MOST_AT_ONCE) await new Promise<void>((begin) => waiting.push(begin));
    else running += 1;
    try {
      return await runNow(command, input);
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  },
  watch([program, ...args], { line, warned, ended }) {
    // It ends with this process, however that ends.
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: programEnvironment(),
    });
    let isOver = false;
    const end = (reason: string): void => {
      if (!isOver) ended(reason);
      isOver = true;
    };
    for (const [stream, said] of [[child.stdout, line] as const, [child.stderr, warned] as const])
      createInterface({ input: stream }).on('line', (text) => {
        if (!isOver) said(text);
      });
    child.on('error', (error) => end(error.message));
    child.on('close', (code, signal) => end(signal === null ? `it ended with ${code}` : `it was ended by ${signal}`));
    return () => {
      isOver = true;
      child.kill();
    };
  },
};

async function runNow([program, ...args]: Words, input: string): Promise<Ran> {
  return await new Promise((resolve) => {
    const options = { timeout: TIMEOUT_MS, maxBuffer: MOST_BYTES, env: programEnvironment() };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) resolve({ ok: true, output: stdout });
      else {
        const isKilled = error.killed === true;
        const said = stderr.trim();
        const message =
          isKilled || error.signal ? ended([program, ...args], isKilled, error.signal ?? '', said) : said || error.message.trim();
        resolve({ ok: false, message, ...(typeof error.code === 'number' && !isKilled && { output: stdout }) });
      }
    });
    // It may end before it has read all.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

/** What a program says that was ended, by this process or by a signal of its own: what it said before tells less. */
function ended(command: Words, isKilled: boolean, signal: string, said: string): string {
  const why = isKilled ? `no end after ${TIMEOUT_MS / 1000} s` : endedBySignal(command, signal);
  return said === '' ? why : `${why}: ${said}`;
}

/** The command in a network namespace. Unlike `ip netns exec`, `nsenter` leaves mounts as they are. */
export function inNamespace(path: string, ...command: Words): Words {
  return ['nsenter', `--net=${path}`, '--', ...command];
}
