/**
 * The short live summary of a laboratory: on a terminal one line that is redrawn, elsewhere a line whenever it changes.
 */
import { styleText } from 'node:util';
import type { Controller } from '../../controller/controller.ts';
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
      `${world.vpcs.size} Vpcs`,
      `${world.subnets.size} Subnets`,
      `${world.ips.size} addresses`,
      `${world.pods.size} pods`,
      `${world.rows.owned.size} OVN rows`,
      `${status.transactions} transactions`,
      ...(status.conflicts > 0 ? [`${status.conflicts} conflicts`] : []),
    ].join(' · ');
    const line = lineText(`${status.phase}: ${text}`);
    if (line === this.#last) return;
    this.#last = line;
    if (this.#stream.isTTY) this.#stream.write(`\r\u001b[K${styleText('dim', line, { stream: this.#stream })}`);
    else this.#stream.write(`${line}\n`);
  }
}
