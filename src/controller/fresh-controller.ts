/**
 * A new controller that neither leads nor writes: its plan is what the running controller has not done.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { GROUP } from '../api/schema/kind.ts';
import type { Desired } from '../compile/desired.ts';
import { RULES } from '../compile/rules.ts';
import type { KubeClient } from '../kube/client/client.ts';
import type { KubeError } from '../kube/errors.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
import { SILENT } from '../runtime/log.ts';
import { readOlderDefinitions } from './reading/older-definitions.ts';
import type { Settings } from '../world/settings.ts';
import { traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Plan, PlanPart } from './controller.ts';
import { Controller } from './controller.ts';

export interface FreshLookOptions {
  readonly client: KubeClient;
  /** Not started yet; closed with the look. */
  readonly session: OvsdbSession;
  readonly settings: Settings;
  readonly timeoutMs?: number;
  /** See `ControllerOptions.watchAfterMs`. */
  readonly watchAfterMs?: number;
}

/** The lists or rules were not complete in time. */
export class NotDerived extends Error {
  override readonly name = 'NotDerived';
  /** What is not complete: plural names, or the Northbound database. */
  readonly waitingFor: readonly string[];
  /** The error of a list among these; undefined: no answer yet. */
  readonly listError: KubeError | undefined;

  constructor(timeoutMs: number, phase: string, waitingFor: readonly string[], listError?: KubeError) {
    super(`a fresh controller is not done after ${timeoutMs / 1000} s: ${phase}, waiting for ${waitingFor.join(', ') || 'nothing'}`);
    this.waitingFor = waitingFor;
    this.listError = listError;
  }
}

const REFUSALS: ReadonlySet<KubeError['code']> = new Set(['KUBE_FORBIDDEN', 'KUBE_UNAUTHORIZED', 'KUBE_NOT_SERVED']);

/** Whether the API server has decided: a later attempt gets the same answer. */
export function isRefusal(error: KubeError | undefined): boolean {
  return error !== undefined && REFUSALS.has(error.code);
}

export class FreshController implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #controller: Controller;

  private constructor(client: KubeClient, controller: Controller) {
    this.#client = client;
    this.#controller = controller;
  }

  /** Resolves when everything is listed and all rules have run. @throws NotDerived */
  static async open({ client, session, settings, timeoutMs, watchAfterMs }: FreshLookOptions): Promise<FreshController> {
    const controller = new Controller({
      client,
      session,
      rules: RULES,
      settings,
      namespace: 'kube-system',
      log: SILENT,
      readOnly: true,
      collectionLimit: false,
      followDefinitions: false,
      ...(watchAfterMs === undefined ? {} : { watchAfterMs }),
    });
    const fresh = new FreshController(client, controller);
    controller.start();
    try {
      await fresh.derived(timeoutMs);
    } catch (error) {
      await fresh.close();
      throw error;
    }
    return fresh;
  }

  get world(): World {
    return this.#controller.world;
  }

  get desired(): Desired {
    return this.#controller.desired;
  }

  /** Waits until the rules have run for everything observed so far. */
  async derived(timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let stable = 0, runs = -1; stable < 3;) {
      const { phase, ruleRuns, waitingFor, listError } = this.#controller.status;
      // Rules alone are not enough: rows may still be read, and counts are collected for a while.
      const still = phase !== 'starting' && phase !== 'observing' && this.#controller.quiet && ruleRuns === runs;
      stable = still ? stable + 1 : 0;
      runs = ruleRuns;
      if (isRefusal(listError) || performance.now() > deadline) throw new NotDerived(timeoutMs, phase, waitingFor, listError);
      if (stable === 0) await sleep(5);
      else await turn();
    }
    // A controller would learn from the answers that a definition is older, and not write again what is pruned.
    const patched = this.#controller.plan().objects.filter(({ verb, resource }) => verb === 'patch' && traitsOf(resource).group === GROUP);
    await readOlderDefinitions(
      this.#client,
      this.world,
      patched.map(({ resource }) => resource),
    );
  }

  /** @param only the rows and objects that are compared */
  plan(only?: PlanPart): Plan {
    const { rows, objects } = this.#controller.plan(only);
    // A conflict with a foreign row is reported, not planned; rows that wait, wait for it.
    const conflict = rows.some(({ verdict }) => verdict.kind === 'conflict');
    return { rows: rows.filter(({ verdict }) => verdict.kind === 'change' || (verdict.kind === 'waiting' && !conflict)), objects };
  }

  /** Desired rows with a conflict: a controller would not write them. */
  conflicts(): Plan['rows'] {
    return this.#controller.plan().rows.filter(({ verdict }) => verdict.kind === 'conflict');
  }

  async close(): Promise<void> {
    await this.#controller.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
