/** Draws a life from its seed, step by step: the next step may depend on the state of the cluster. */
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Step } from '../steps/step.ts';
import { drawOtherOperation } from './addresses.ts';
import { drawCrowd } from './crowds.ts';
import { drawConcurrentChange, drawFault } from './faults.ts';
import { drawForgery } from './forged-annotations.ts';
import { drawOperation } from './objects.ts';
import { Random } from '../cluster/random.ts';
import { drawScene } from './scenes/scenes.ts';

/** A convergence with its checks costs as much as some hundred operations that come together. */
const PACES = {
  /** Some time between most operations, and faults in between. */
  spaced: { untilConvergence: 40, scenes: 4, crowds: 0.02, most: 20 },
  /** Most operations come in crowds of up to ninety at once. */
  crowded: { untilConvergence: 150, scenes: 8, crowds: 0.5, most: 90 },
} as const;

export class LifeDraw {
  /** Processes of the controller that are started. */
  readonly controllers: number;
  readonly #random: Random;
  readonly #pace: (typeof PACES)[keyof typeof PACES];
  /** Shares of what is drawn: a fault, a change right before a write takes effect, a forged annotation, an operation of `addresses.ts`. */
  readonly #faults: number;
  readonly #concurrentChanges: number;
  readonly #forgeries: number;
  readonly #others: number;
  #left: number;
  #untilConvergence: number;
  #scenes: number;
  #scene: readonly Step[] = [];
  /** The last convergence has been drawn. */
  #over = false;
  /** The number of operations still to come with no time between. */
  #together = 0;

  constructor(seed: number, operations: number) {
    const random = new Random(seed);
    this.#random = random;
    this.#pace = PACES[random.pick(['spaced', 'crowded'] as const)];
    this.controllers = random.chance(0.35) ? 2 : 1;
    this.#faults = random.chance(0.8) ? 0.05 + random.next() * 0.2 : 0;
    this.#concurrentChanges = random.chance(0.7) ? 0.02 + random.next() * 0.08 : 0;
    this.#forgeries = random.chance(0.6) ? 0.01 + random.next() * 0.03 : 0;
    this.#others = random.chance(0.1) ? 0 : 0.1 + random.next() * 0.3;
    this.#left = operations;
    this.#untilConvergence = this.#pace.untilConvergence;
    this.#scenes = this.#pace.scenes;
  }

  /** The next step; undefined after the last one, which is a convergence. */
  next(cluster: SimulatedCluster): Step | undefined {
    const random = this.#random;
    const [coming, ...later] = this.#scene;
    if (coming !== undefined) {
      this.#scene = later;
      if (coming.kind === 'operation') this.#count();
      return coming;
    }
    if (this.#left === 0 || this.#untilConvergence === 0) {
      if (this.#over) return undefined;
      if (this.#scenes > 0) {
        this.#scenes--;
        return this.#play(cluster, drawScene(random, cluster));
      }
      this.#over = this.#left === 0;
      this.#untilConvergence = this.#pace.untilConvergence;
      this.#scenes = this.#pace.scenes;
      return { kind: 'converge' };
    }
    if (this.#together > 0) {
      this.#together--;
      return this.#operation(cluster);
    }
    if (random.chance(this.#pace.crowds)) {
      if (random.chance(0.5)) this.#together = 5 + random.below(this.#pace.most);
      else return this.#play(cluster, drawCrowd(random, cluster));
    }
    if (random.chance(this.#forgeries)) {
      const forgery = drawForgery(random, cluster);
      if (forgery !== undefined) return this.#play(cluster, [{ kind: 'operation', ...forgery }]);
    }
    if (random.chance(this.#concurrentChanges)) return { kind: 'fault', ...drawConcurrentChange(random) };
    if (random.chance(this.#faults)) return { kind: 'fault', ...drawFault(random) };
    if (random.chance(0.15)) return { kind: 'wait', ms: random.pick([0.5, 2, 10, 10, 50, 300]) };
    return this.#operation(cluster);
  }

  #play(cluster: SimulatedCluster, scene: readonly Step[]): Step | undefined {
    this.#scene = scene;
    return this.next(cluster);
  }

  #operation(cluster: SimulatedCluster): Step {
    this.#count();
    const random = this.#random;
    return { kind: 'operation', ...(random.chance(this.#others) ? drawOtherOperation(random, cluster) : drawOperation(random, cluster)) };
  }

  #count(): void {
    this.#left = Math.max(0, this.#left - 1);
    this.#untilConvergence = Math.max(0, this.#untilConvergence - 1);
  }
}
