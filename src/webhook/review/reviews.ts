/** Answers a review: calls the judges, and removes what the client may not know. */
import { World } from '../../world/world.ts';
import type { AdmissionRequest, ReviewedObject } from '../protocol/admission-review.ts';
import type { AskedFor, DeletionInUse } from '../kinds/deletion.ts';
import { deletionIn, judge } from './validate-request.ts';
import type { Observed, Opinion } from '../protocol/admission-result.ts';
import { NO_OPINION } from '../protocol/admission-result.ts';
import { DeniedDeletions } from './denied-deletions.ts';
import type { ResourceName } from '../../world/resources.ts';
import { withoutOthers } from './redacted-result.ts';

export interface ReviewsOptions {
  readonly observed: Observed;
  /** What Kiln does not implement for an object of a kind that it only observes. */
  readonly unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined;
  /** What becomes of the deletion of an object in use. */
  readonly deletionInUse: DeletionInUse;
  /** See `judge`. */
  readonly ownUser: () => string | undefined;
  /** Whether API servers prove their identity here: then the user name in a review of any other client is unverified. */
  readonly clientsProve: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export class Reviews {
  readonly #options: ReviewsOptions;
  readonly #denied: DeniedDeletions;
  /** A World without objects: a judgement in it depends on the request alone. */
  readonly #alone: Observed;

  constructor(options: ReviewsOptions) {
    this.#options = options;
    this.#denied = new DeniedDeletions(options.now);
    this.#alone = { world: new World(options.observed.world.settings), complete: false, checkRequest: () => undefined };
  }

  /** @param proven the client is an API server */
  judge(request: AdmissionRequest, proven: boolean): Opinion {
    const { observed, unimplemented, ownUser, clientsProve, deletionInUse: inUse } = this.#options;
    const { user } = request;
    const askedFor: AskedFor = (resource, key) => this.#denied.has({ resource, key, user });
    const opinion = judge(request, observed, unimplemented, { inUse, askedFor }, ownUser());
    const deletion = deletionIn(request);
    // Any client can send any user's name. If unproven reviews counted, a stranger could get the next deletion of that user allowed.
    const isOfUser = proven || !clientsProve;
    if (isOfUser && deletion !== undefined && opinion.objections.length > 0) this.#denied.note({ ...deletion, user });
    if (proven || opinion.objections.length + opinion.warnings.length === 0) return opinion;
    return withoutOthers(request, opinion, this.#judgeAlone(request));
  }

  #judgeAlone(request: AdmissionRequest): Opinion {
    try {
      return judge(request, this.#alone, this.#options.unimplemented);
    } catch {
      // The findings in the real World still count.
      return NO_OPINION;
    }
  }
}
