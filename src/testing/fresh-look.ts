/**
 * A controller that has just started and may not write: what it would do is what is still wrong.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { makeController, northboundSession } from '../cli/connect.ts';
import type { Controller, Plan } from '../controller/controller.ts';
import { KubeClient } from '../kube/client.ts';
import { connectionFromKubeconfig } from '../kube/connection.ts';
import { KubeTransport } from '../kube/transport.ts';
import { SILENT } from '../runtime/log.ts';
import type { World } from '../world/world.ts';

export class FreshLook implements AsyncDisposable {
  readonly #controller: Controller;
  readonly #client: KubeClient;

  private constructor(controller: Controller, client: KubeClient) {
    this.#controller = controller;
    this.#client = client;
  }

  /** Returns when everything has been listed and derived. */
  static async open(kubeconfig: string, ovnNb: string): Promise<FreshLook> {
    const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: kubeconfig }), { connections: 8 }));
    const controller = makeController(client, northboundSession({ ovnNb }, SILENT), SILENT, { readOnly: true, collectionLimit: false });
    const look = new FreshLook(controller, client);
    controller.start();
    try {
      await look.derived();
    } catch (error) {
      await look.close();
      throw error;
    }
    return look;
  }

  get world(): World {
    return this.#controller.world;
  }

  /** Waits until what was observed so far has been derived. */
  async derived(timeoutMs = 30_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (let stable = 0, runs = -1; stable < 3;) {
      const { phase, ruleRuns, waitingFor } = this.#controller.status;
      const still = phase !== 'starting' && phase !== 'observing' && this.world.reactor.quiet && ruleRuns === runs;
      stable = still ? stable + 1 : 0;
      runs = ruleRuns;
      if (performance.now() > deadline)
        throw new Error(
          `a fresh controller is not done after ${timeoutMs / 1000} s: ${phase}, waiting for ${waitingFor.join(', ') || 'nothing'}`,
        );
      if (stable === 0) await sleep(5);
      else await turn();
    }
  }

  plan(): Plan {
    const { rows, objects } = this.#controller.plan();
    // A name that a foreign row holds is a conflict for as long as it does: it is said, not planned. What waits, waits for it.
    const conflict = rows.some(({ verdict }) => verdict.kind === 'conflict');
    return { rows: rows.filter(({ verdict }) => verdict.kind === 'change' || (verdict.kind === 'waiting' && !conflict)), objects };
  }

  async close(): Promise<void> {
    await this.#controller.stop();
    await this.#client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A plan for a person: one line for each thing that would be written. */
export function planText({ rows, objects }: Plan): string {
  const plain = (_key: string, part: unknown): unknown => {
    if (typeof part === 'bigint') return String(part);
    if (part instanceof Map) return [...part];
    return part instanceof Set ? [...part] : part;
  };
  const shown = (value: unknown): string => JSON.stringify(value, plain) ?? '';
  return [
    ...rows.map(({ id, verdict }) => `row ${id}: ${shown(verdict)}`),
    ...objects.map((write) => `${write.verb} ${write.resource} ${write.namespace}/${write.name}: ${shown(write)}`),
  ]
    .map((line) => line.slice(0, 600))
    .join('\n');
}
