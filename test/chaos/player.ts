/** Plays a history on a cluster. A rejected operation has no effect. One without an answer may have had it or not, as for a user. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isKubeError, KubeError } from '../../src/kube/errors.ts';
import type { KubeObject, ObjectName } from '../../src/kube/resource.ts';
import { LEASE_SECONDS } from '../../src/testing/controller-process.ts';
import type { ControllerProcess, LogLine } from '../../src/testing/controller-process.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { RESOURCES } from '../../src/world/resources.ts';
import type { Burst, Fault, Operation, Target } from './history.ts';
import { SUBNETS } from './history.ts';

/** Counts of what a history cannot force. */
export interface Met {
  /** Transactions of a deposed leader that failed at the fence. */
  fenced: number;
  /** Leaders that were stopped past their Lease and continued. */
  deposed: number;
}

export class Player {
  readonly #cluster: ScenarioCluster;
  readonly met: Met = { fenced: 0, deposed: 0 };

  constructor(cluster: ScenarioCluster) {
    this.#cluster = cluster;
  }

  async burst({ operations, fault }: Burst): Promise<void> {
    const all = operations.map(async ({ at, what }) => {
      await sleep(at);
      await this.carryOut(what);
    });
    if (fault !== undefined) all.push(sleep(fault.at).then(() => this.#fail(fault.what)));
    // Not Promise.all: after a fault that throws, the operations must still end before the next history begins.
    const ends = await Promise.allSettled(all);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async carryOut(operation: Operation): Promise<void> {
    try {
      await this.#try(operation);
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
    }
  }

  async #try(operation: Operation): Promise<void> {
    const { client } = this.#cluster;
    const resource = RESOURCES[operation.kind];
    const name = nameOf(operation);
    switch (operation.verb) {
      case 'create':
        await client.create(resource, objectOf(operation, operation.annotations ?? {}));
        return;
      case 'delete':
        await client.delete(resource, name);
        return;
      case 'force delete':
        await client.delete(resource, name, { gracePeriodSeconds: 0 });
        return;
      case 'tear out':
        await client.delete(resource, name, operation.kind === 'pods' ? { gracePeriodSeconds: 0 } : {});
        await client.mergePatch(resource, name, { metadata: { finalizers: [] } });
        return;
      case 'strip finalizers':
        await client.mergePatch(resource, name, { metadata: { finalizers: [] } });
        return;
      case 'edit':
        await client.mergePatch(resource, name, { spec: operation.spec });
        return;
      case 'annotate':
        await client.mergePatch(resource, name, { metadata: { annotations: operation.annotations } });
    }
  }

  async #fail(fault: Fault): Promise<void> {
    const { api, ovn } = this.#cluster;
    switch (fault) {
      case 'kill -9 the controller':
        await this.#cluster.controller.kill9();
        this.#cluster.startController();
        return;
      case 'kill -9 the Northbound database':
        await ovn.kill('nb');
        await sleep(100);
        await ovn.restart('nb');
        return;
      case 'kill -9 kube-apiserver':
        await api.real?.kill('kube-apiserver');
        await api.real?.restart('kube-apiserver');
        return;
      case 'a second controller':
        this.#cluster.startController();
        return;
      case 'stop the leader past its Lease, then wake it':
        await this.#depose();
        return;
      case 'somebody takes the term':
        await this.#takeTerm();
    }
  }

  /** A stopped leader writes nothing once another one leads: its own log and the database's show this. */
  async #depose(): Promise<void> {
    const deposed = await this.#leader();
    if (deposed === undefined) return;
    const term = Number((await deposed.log()).findLast(({ msg }) => msg === 'writing')?.['term']);
    await deposed.pause();
    if (this.#cluster.controllers.length === 1) this.#cluster.startController();
    await this.#cluster.eventually('another one leads', async () => {
      const leader = await this.#leader();
      return leader !== undefined && leader !== deposed;
    });
    const mark = (await deposed.log()).length;
    const records = (await this.#cluster.northboundLog()).length;
    await deposed.resume();
    await this.#cluster.eventually('the one that was woken knows that it leads no more', async () => {
      const lines = (await deposed.log()).slice(mark);
      return lines.some(({ msg }) => msg === 'no longer leading' || msg.startsWith('deposed:'));
    });
    await sleep(200);
    const woken = (await deposed.log()).slice(mark);
    const leadsAgain = woken.findIndex(({ msg }) => msg === 'writing');
    const before = leadsAgain === -1 ? woken : woken.slice(0, leadsAgain);
    // The reply to a transaction that was under way may be read only now; the database's log shows whether there were more.
    const replies = before.filter(({ msg }) => msg === 'transaction').length;
    assert.ok(replies <= 1, `a leader without the Lease got replies to ${replies} executed transactions, and one at a time is under way`);
    const written = (await this.#cluster.northboundLog()).slice(records).filter(({ comment }) => comment.startsWith(`kiln: term ${term},`));
    assert.deepEqual(written, [], `a deposed leader has written under its term ${term} after another one led`);
    this.met.deposed++;
    this.met.fenced += before.filter(({ msg }) => msg === 'transaction failed').length;
  }

  /** As if another process had led since: the leader's transactions fail, and it takes the next term in time. */
  async #takeTerm(): Promise<void> {
    const { ovn } = this.#cluster;
    const now = /kiln\.io\/term="?(\d+)/.exec(await ovn.nbctl('get', 'NB_Global', '.', 'external_ids'))?.[1];
    if (now === undefined) return;
    const leader = await this.#leader();
    const mark = leader === undefined ? 0 : (await leader.log()).length;
    await ovn.nbctl('set', 'NB_Global', '.', `external_ids:kiln.io/term=${Number(now) + 3}`);
    await sleep(LEASE_SECONDS.duration * 1_000);
    const lines = leader === undefined ? [] : (await leader.log()).slice(mark);
    this.met.fenced += lines.filter(({ msg }) => msg === 'transaction failed').length;
  }

  /** The last controller that logged `writing` and has not stopped leading since; undefined for none. */
  async #leader(): Promise<ControllerProcess | undefined> {
    let leader: { readonly one: ControllerProcess; readonly line: LogLine } | undefined;
    for (const one of this.#cluster.controllers) {
      const line = (await one.log()).findLast(({ msg }) => msg === 'writing' || msg === 'no longer leading' || msg.startsWith('deposed:'));
      if (line?.msg === 'writing' && String(line['time']) > String(leader?.line['time'] ?? '')) leader = { one, line };
    }
    return leader?.one;
  }
}

export function nameOf({ key }: Target): ObjectName {
  const [first = '', second] = key.split('/');
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

/** Whether the object exists. @throws KubeError if the server cannot be asked */
export async function exists(cluster: ScenarioCluster, target: Target): Promise<boolean> {
  try {
    await cluster.client.get(RESOURCES[target.kind], nameOf(target));
    return true;
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return false;
    throw error;
  }
}

function objectOf(target: Target, annotations: Readonly<Record<string, string>>): KubeObject {
  const metadata = { ...nameOf(target), annotations };
  switch (target.kind) {
    case 'vpcs':
      return { metadata, spec: target.key === 'chaos-v2' ? { namespaces: ['chaos-b'] } : {} } as KubeObject;
    case 'subnets':
      return { metadata, spec: SUBNETS[target.key] ?? {} } as KubeObject;
    case 'ippools':
      return { metadata, spec: { subnet: 'chaos-s2', ips: ['10.220.2.100..10.220.2.101'], enableAddressSet: true } } as KubeObject;
    default:
      return {
        metadata,
        spec: {
          automountServiceAccountToken: false,
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'main', image: 'none' }],
        },
      } as KubeObject;
  }
}
