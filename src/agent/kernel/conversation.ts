/**
 * `ip -force -batch` in a network namespace that goes on: lines are carried out as they come, so that a device with many steps costs one program.
 * For some seconds only, since `ip` remembers names of devices.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { failedLines, failureText } from './failed-lines.ts';
import { programEnvironment } from './program-environment.ts';
import { endedBySignal, type Ran, type Words } from './ran.ts';

export interface Conversation {
  /**
   * Carries out lines, one call at a time. A line that fails keeps no other from its effect.
   * @returns what they print; `message` has each one that failed, with its reason
   */
  ask(lines: readonly string[]): Promise<Ran>;
  /** Ends it. Must be called: until then the namespace exists. */
  end(): void;
}

const TIMEOUT_MS = 20_000;
/** Of one answer: a pod may have as many routes and neighbours as it likes. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** No device has such a name: that `ip` does not find it says that all before was carried out. */
const MARK = 'kiln!mark';

interface Question {
  readonly lines: readonly string[];
  /** Of the first one, as `ip` counts them. */
  readonly from: number;
  readonly mark: string;
  readonly resolve: (ran: Ran) => void;
  readonly timer: NodeJS.Timeout;
}

export class IpConversation implements Conversation {
  readonly #child: ChildProcess;
  #output = '';
  #errors = '';
  #lines = 0;
  #question: Question | undefined;
  #end: string | undefined;

  /** @param command `ip -json -force -batch -`, also within another program */
  constructor(command: Words) {
    const [program, ...args] = command;
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: programEnvironment() });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      if (this.#output.length > MOST_CHARACTERS) this.#ended(`it shows more than ${MOST_CHARACTERS} characters`);
      else this.#heard();
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
      this.#heard();
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.on('error', (error) => this.#ended(error.message));
    this.#child.on('close', (code, signal) => {
      const why = signal === null ? `it ended with ${code}` : endedBySignal(command, signal);
      this.#ended(this.#errors.trim() || why);
    });
  }

  async ask(lines: readonly string[]): Promise<Ran> {
    if (this.#end !== undefined) return { ok: false, message: this.#end };
    this.#output = '';
    this.#errors = '';
    const from = this.#lines + 1;
    this.#lines += lines.length + 1;
    const mark = `${MARK}${this.#lines}`;
    return await new Promise((resolve) => {
      const timer = setTimeout(() => this.#ended(`no end after ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS);
      this.#question = { lines, from, mark, resolve, timer };
      this.#child.stdin?.write(`${lines.join('\n')}\naddress show dev ${mark}\n`);
    });
  }

  end(): void {
    this.#end ??= 'it was ended';
    this.#child.stdin?.end();
    this.#child.kill();
  }

  /** All was carried out when the mark was not found, and each line that shows something and did not fail has printed it. */
  #heard(): void {
    if (this.#question === undefined) return;
    const { mark, lines, from } = this.#question;
    const at = this.#errors.indexOf(`Device "${mark}" does not exist.`);
    // What it says of the mark must not be taken for a part of the next answer.
    if (at < 0 || !/^Command failed .*\n/m.test(this.#errors.slice(at))) return;
    const failed = failedLines(this.#errors.slice(0, at), from);
    const shown = lines.filter((line, number) => / show\b/.test(line) && !failed.has(number)).length;
    if (this.#output.split('\n').length <= shown) return;
    const message = failureText(lines, failed);
    this.#settle(failed.size === 0 ? { ok: true, output: this.#output } : { ok: false, message, output: this.#output });
  }

  #ended(reason: string): void {
    this.#end ??= reason;
    this.#settle({ ok: false, message: this.#end });
    this.#child.kill();
  }

  #settle(ran: Ran): void {
    const { resolve, timer } = this.#question ?? {};
    clearTimeout(timer);
    this.#question = undefined;
    resolve?.(ran);
  }
}
