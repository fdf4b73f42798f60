/** Progress of a start: one line for each step, with its duration. On a terminal the line of the running step is redrawn. */
import { styleText } from 'node:util';
import { visible, visibleLines } from '../../text/visible-text.ts';
import { glyphs } from './glyphs.ts';

export interface Progress {
  /** Displays a step while it runs. Rejects with the step's error. */
  step(what: string, done: Promise<unknown>): Promise<void>;
  say(line: string): void;
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

export function progressTo(stream: NodeJS.WriteStream): Progress {
  const live = stream.isTTY && process.env['TERM'] !== 'dumb';
  return {
    say: (line) => void stream.write(`${glyphs(visibleLines(line))}\n`),
    step: async (step, done) => {
      const what = glyphs(visible(step));
      const start = performance.now();
      let frame = 0;
      const timer = live
        ? setInterval(() => stream.write(`\r${styleText('cyan', glyphs(SPINNER[frame++ % SPINNER.length] ?? ''), { stream })} ${what}`), 80)
        : undefined;
      const finish = (mark: string, colour: 'green' | 'red'): void => {
        clearInterval(timer);
        const line = `${styleText(colour, glyphs(mark), { stream })} ${what}  ${styleText('dim', seconds(performance.now() - start), { stream })}`;
        stream.write(live ? `\r\u001b[K${line}\n` : `${line}\n`);
      };
      try {
        await done;
        finish('✔', 'green');
      } catch (error) {
        finish('✖', 'red');
        throw error;
      }
    },
  };
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
