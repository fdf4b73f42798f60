import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { Reviews } from './reviews.ts';

/** Reviews of deletions in a tenant of one Vpc, one Subnet and one pod. */
class Deletions {
  readonly #scene = new PodScene();
  readonly #reviews: Reviews;

  constructor(clientsProve: boolean) {
    const { bench } = this.#scene;
    bench.put('vpcs', { metadata: { name: 'blue' } });
    this.#scene.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
    this.#scene.pod('web');
    bench.converge();
    const observed = { world: bench.world, complete: true, checkRequest: () => undefined };
    this.#reviews = new Reviews({
      observed,
      unimplemented: () => undefined,
      ownUser: () => undefined,
      deletionInUse: 'deny',
      clientsProve,
      now: () => 0,
    });
  }

  /** The pod and its address disappear. */
  empty(): void {
    this.#scene.bench.delete('pods', 'shop/web');
    this.#scene.bench.converge();
  }

  /** @param proven the review comes from an API server */
  isRefused(resource: ResourceName, name: string, user: string, proven: boolean): boolean {
    const { group, version, plural, kind } = traitsOf(resource);
    const request: AdmissionRequest = {
      ...{ uid: 'u', operation: 'DELETE', group, version, resource: plural, kind, subresource: '', namespace: '', name, user },
      ...{ object: undefined, dryRun: false, fieldManager: '', preconditionUid: '' },
      oldObject: this.#scene.bench.object(resource, name),
    };
    return this.#reviews.review(request, proven).denials.length > 0;
  }
}

test("a client that only claims to be a user does not get that user's next deletion allowed", () => {
  for (const [clientsProve, proven, refused] of [
    [true, false, true],
    [true, true, false],
    // No client proves to be an API server here, so every review counts as one of an API server.
    [false, false, false],
  ] as const) {
    const deletions = new Deletions(clientsProve);
    assert.equal(deletions.isRefused('subnets', 'net', 'alice', proven), true, 'its pod runs');
    deletions.empty();
    assert.equal(deletions.isRefused('vpcs', 'blue', 'bob', clientsProve), true, 'bob did not ask for the Subnet');
    assert.equal(deletions.isRefused('vpcs', 'blue', 'alice', clientsProve), refused, `${clientsProve} ${proven}`);
  }
});
