/**
 * Runs the rules: one computation for each object a rule is over, run again only when something it read changed.
 */
import { Computation } from '../world/reactor.ts';
import type { World } from '../world/world.ts';
import type { Domain } from '../world/domain.ts';
import { Desired } from './desired.ts';
import type { Output } from './output.ts';

export interface Rule {
  readonly name: string;
  /** The keys this rule runs for: those of a table, some of them, or pairs of two. */
  readonly over: (world: World) => Domain;
  /** Pure: reads of `world` are remembered. Returns what should exist because of `key`. */
  readonly run: (world: World, key: string) => readonly Output[];
}

export interface RuleFailure {
  readonly rule: string;
  readonly key: string;
  readonly error: unknown;
}

const NOTHING: readonly Output[] = [];

export class Compiler {
  readonly desired = new Desired();
  readonly #world: World;
  readonly #failed: (failure: RuleFailure) => void;

  /** @param failed told when a rule throws (a bug); what it said last stays wanted, other objects go on */
  constructor(world: World, rules: readonly Rule[], failed: (failure: RuleFailure) => void) {
    this.#world = world;
    this.#failed = failed;
    for (const rule of rules) this.#start(rule);
  }

  #start(rule: Rule): void {
    const running = new Map<string, Computation<readonly Output[]>>();
    const saidBy = new Map<string, readonly Output[]>();
    const begin = (key: string): void => {
      const computation: Computation<readonly Output[]> = new Computation<readonly Output[]>(
        this.#world.reactor,
        () => {
          try {
            return rule.run(this.#world, key);
          } catch (error) {
            this.#failed({ rule: rule.name, key, error });
            return saidBy.get(key) ?? NOTHING;
          }
        },
        (outputs) => {
          if (running.get(key) !== computation) return;
          saidBy.set(key, this.desired.replace(saidBy.get(key) ?? NOTHING, outputs));
        },
        undefined,
      );
      running.set(key, computation);
      this.#world.reactor.enqueue(computation);
    };
    const end = (key: string): void => {
      const computation = running.get(key);
      if (computation === undefined) return;
      running.delete(key);
      computation.dispose();
      this.desired.replace(saidBy.get(key) ?? NOTHING, NOTHING);
      saidBy.delete(key);
    };
    rule.over(this.#world).watch({ enter: begin, leave: end });
  }
}
