/** The program that answers BFD as a target: it runs as long as a rule wants it. What it hears is in the World. */
import { KeyedOutputs } from '../../engine/keyed-outputs.ts';
import type { Log } from '../../runtime/log.ts';
import type { Target } from '../../engine/target.ts';
import { inNamespace, type Programs } from '../kernel/programs.ts';
import type { Words } from '../kernel/ran.ts';
import type { Retries } from '../retries.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { BfdResponderOutput } from '../world/outputs.ts';
import { parseReport } from './report.ts';

export interface ResponderTargetOptions {
  readonly world: NodeWorld;
  readonly programs: Programs;
  /** How Kiln itself is started. */
  readonly program: Words;
  readonly retries: Retries;
  readonly log: Log;
  readonly wake: () => void;
}

interface Running {
  readonly networks: string;
  readonly end: () => void;
}

export class ResponderTarget implements Target {
  readonly name = 'answers to BFD';
  readonly busy = false;
  readonly observed = true;
  readonly waitingFor = [];
  readonly desired = new KeyedOutputs<BfdResponderOutput>(['bfd-responder'], ({ namespacePath }) => `bfd in ${namespacePath}`);
  readonly #options: ResponderTargetOptions;
  /** By identity. */
  readonly #running = new Map<string, Running>();
  #stopped = false;

  constructor(options: ResponderTargetOptions) {
    this.#options = options;
  }

  get quiet(): boolean {
    return this.desired.due.size === 0;
  }

  start(): void {
    // It observes nothing but itself.
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const id of this.#running.keys()) this.#end(id);
  }

  examineAll(): void {
    for (const id of this.desired.ids) this.desired.due.add(id);
  }

  plan(): readonly unknown[] {
    return Array.from(this.desired.due, (id) => ({ id, wanted: this.desired.of(id) }));
  }

  flush(): boolean {
    for (const id of this.desired.due) {
      if (this.#stopped || this.#options.retries.mustWait(id)) continue;
      this.desired.due.delete(id);
      const [output] = this.desired.of(id);
      const networks = output?.networks.join();
      if (this.#running.get(id)?.networks === networks) continue;
      this.#end(id);
      if (output !== undefined) this.#run(id, output);
      else this.#options.retries.succeeded(id);
    }
    return true;
  }

  #run(id: string, { namespacePath, networks }: BfdResponderOutput): void {
    const { world, programs, program, retries, log, wake } = this.#options;
    const flags = networks.map((network) => `--network=${network}`);
    const said: string[] = [];
    const end = programs.watch(inNamespace(namespacePath, ...program, 'agent', 'answer-bfd', ...flags), {
      line: (text) => {
        const report = parseReport(text);
        const { sessions } = world.bfdResponders.peek(namespacePath) ?? { sessions: {} };
        if (report?.kind === 'listening') retries.succeeded(id);
        if (report?.kind === 'session') {
          const { [report.peer]: _, ...others } = sessions;
          const { peer, state } = report;
          log.info('a session of BFD changed', { gateway: namespacePath, router: peer, state });
          world.bfdResponders.set(namespacePath, { sessions: state === 'gone' ? others : { ...others, [peer]: state } });
        } else if (report !== undefined) world.bfdResponders.set(namespacePath, { sessions });
        wake();
      },
      warned: (text) => void said.push(text),
      ended: (reason) => {
        this.#running.delete(id);
        world.bfdResponders.delete(namespacePath);
        const why = said.length === 0 ? reason : `${reason}: ${said.slice(-MOST_LINES).join(' ')}`;
        log.warn('the program that answers BFD ended; it is started again', { gateway: namespacePath, reason: why });
        this.desired.due.add(id);
        retries.failed(id, `the program that answers BFD ended: ${why}`);
        wake();
      },
    });
    this.#running.set(id, { networks: networks.join(), end });
  }

  /** It says so to routers before it ends. */
  #end(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    running.end();
    const [, path = ''] = /^bfd in (.*)$/.exec(id) ?? [];
    this.#options.world.bfdResponders.delete(path);
  }
}

/** Of what it says before it ends. */
const MOST_LINES = 5;
