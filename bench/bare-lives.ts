/** Lives of pods without a controller: a client makes the writes of a controller, one after another for each pod. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '../src/kube/client/client.ts';
import type { KubeObject } from '../src/kube/resource.ts';
import { PODS } from '../src/kube/resource.ts';
import { IPS, podObject, untilRouted } from './crowd.ts';

interface Written {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

const SPACE = 'default';

export class BareLives {
  readonly #client: KubeClient;
  /** The writes of a controller for one pod. */
  readonly #ip: { readonly metadata: Written; readonly spec: unknown };
  readonly #annotations: Readonly<Record<string, string>>;
  #made = 0;

  private constructor(client: KubeClient, ip: { readonly metadata: Written; readonly spec: unknown }, annotations: Record<string, string>) {
    this.#client = client;
    this.#ip = ip;
    this.#annotations = annotations;
  }

  /** Records what a running controller writes for one pod. */
  static async observed(client: KubeClient, node: string): Promise<BareLives> {
    const name = 'sample';
    await client.create(PODS, podObject(SPACE, name, node));
    await untilRouted(client, SPACE, name);
    const pod = await client.get<KubeObject & { readonly metadata: Written }>(PODS, { namespace: SPACE, name });
    const { metadata, spec } = await client.get<KubeObject & { readonly metadata: Written; readonly spec: unknown }>(IPS, {
      name: `${name}.${SPACE}`,
    });
    await client.delete(PODS, { namespace: SPACE, name }, { gracePeriodSeconds: 0 });
    const { labels = {}, annotations = {}, finalizers = [] } = metadata;
    return new BareLives(client, { metadata: { labels, annotations, finalizers }, spec }, { ...pod.metadata.annotations });
  }

  /** @returns the wait of each pod at this rate, in milliseconds from the answer to its creation to the answer to its annotations */
  async at(rate: number, seconds: number, lifeMs: number): Promise<readonly number[]> {
    const waits: number[] = [];
    const lives: Promise<void>[] = [];
    const started = performance.now();
    for (let at = 0; at < rate * seconds; at++) {
      await sleep(Math.max(0, started + (at * 1_000) / rate - performance.now()));
      lives.push(this.#live(lifeMs).then((wait) => void waits.push(wait)));
    }
    await Promise.all(lives);
    return waits;
  }

  /** @returns lives a second, with 64 at a time, each followed by the next one at once */
  async most(count: number): Promise<number> {
    const started = performance.now();
    let begun = 0;
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (begun++ < count) await this.#live(0);
      }),
    );
    return (count * 1_000) / (performance.now() - started);
  }

  async #live(lifeMs: number): Promise<number> {
    const name = `bare-${this.#made++}`;
    const [target, ip] = [{ namespace: SPACE, name }, { name: `${name}.${SPACE}` }];
    await this.#client.create(PODS, podObject(SPACE, name, 'node-1'));
    const created = performance.now();
    await this.#client.create(IPS, { ...this.#ip, metadata: { ...this.#ip.metadata, ...ip } });
    await this.#client.mergePatch(PODS, target, { metadata: { annotations: this.#annotations } });
    const wait = performance.now() - created;
    await sleep(lifeMs);
    await this.#client.delete(PODS, target, { gracePeriodSeconds: 0 });
    await this.#client.delete(IPS, ip);
    await this.#client.mergePatch(IPS, ip, { metadata: { finalizers: [] } });
    return wait;
  }
}
