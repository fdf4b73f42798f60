/** What a review is answered with: by the judges, and by how far the client is known. */
import { World } from '../world/world.ts';
import type { AdmissionRequest, ReviewedObject } from './admission-review.ts';
import type { AskedFor } from './deletion-admission.ts';
import { deletionIn, judge } from './judge.ts';
import type { Observed, Opinion } from './opinion.ts';
import { NO_OPINION } from './opinion.ts';
import { RefusedDeletions } from './refused-deletions.ts';
import type { ResourceName } from '../world/resources.ts';
import { withoutOthers } from './without-others.ts';

export interface ReviewsOptions {
  readonly observed: Observed;
  /** What is not implemented for an object of a kind that is only observed. */
  readonly unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined;
  /** See `judge`. */
  readonly ownUser: () => string | undefined;
  /** Whether an API server proves itself here: then the user in a review of another client is that client's word. */
  readonly clientsProve: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export class Reviews {
  readonly #options: ReviewsOptions;
  readonly #refused: RefusedDeletions;
  /** No object is in it: what is said in it is of the request alone. */
  readonly #alone: Observed;

  constructor(options: ReviewsOptions) {
    this.#options = options;
    this.#refused = new RefusedDeletions(options.now);
    this.#alone = { world: new World(options.observed.world.settings), complete: false, checkRequest: () => undefined };
  }

  /** @param proven the client is an API server */
  judge(request: AdmissionRequest, proven: boolean): Opinion {
    const { observed, unimplemented, ownUser, clientsProve } = this.#options;
    const { user } = request;
    const askedFor: AskedFor = (resource, key) => this.#refused.has({ resource, key, user });
    const opinion = judge(request, observed, unimplemented, askedFor, ownUser());
    const deletion = deletionIn(request);
    // By a user's name that anybody may send, a stranger would have the next deletion of that user let through.
    const isOfUser = proven || !clientsProve;
    if (isOfUser && deletion !== undefined && opinion.objections.length > 0) this.#refused.note({ ...deletion, user });
    if (proven || opinion.objections.length + opinion.warnings.length === 0) return opinion;
    return withoutOthers(request, opinion, this.#judgeAlone(request));
  }

  #judgeAlone(request: AdmissionRequest): Opinion {
    try {
      return judge(request, this.#alone, this.#options.unimplemented);
    } catch {
      // What was found in the real world still counts.
      return NO_OPINION;
    }
  }
}
