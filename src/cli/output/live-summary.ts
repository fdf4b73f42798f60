/** The short live summary of a laboratory: on a terminal one line that is redrawn, elsewhere a new line at each change. */
import { styleText } from 'node:util';
import type { Controller } from '../../controller/controller.ts';
import { wordsOf } from '../../explain/words.ts';
import { RESOURCE_NAMES } from '../../world/resources.ts';
import { lineText } from './terminal.ts';

export class LiveSummary {
  readonly #controller: Controller;
  readonly #stream: NodeJS.WriteStream;
  #timer: NodeJS.Timeout | undefined;
  #last = '';

  constructor(controller: Controller, stream: NodeJS.WriteStream) {
    this.#controller = controller;
    this.#stream = stream;
  }

  start(): void {
    this.#timer = setInterval(() => this.#draw(), 500);
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K');
  }

  #draw(): void {
    const { world, status } = this.#controller;
    const text = [
      ...RESOURCE_NAMES.flatMap((resource) => {
        const words = wordsOf(resource).counted;
        return words === undefined ? [] : [counted(world.tables[resource]?.size ?? 0, ...words)];
      }),
      counted(world.rows.owned.size, 'OVN row'),
      counted(status.transactions, 'transaction'),
      ...(status.conflicts > 0 ? [counted(status.conflicts, 'conflict')] : []),
    ].join(' · ');
    const line = lineText(`${status.phase}: ${text}`);
    if (line === this.#last) return;
    this.#last = line;
    if (this.#stream.isTTY) this.#stream.write(`\r\u001b[K${styleText('dim', line, { stream: this.#stream })}`);
    else this.#stream.write(`${line}\n`);
  }
}

function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
