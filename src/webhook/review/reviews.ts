/** Answers a review: validates the request, and removes what the client may not know. */
import { World } from '../../world/world.ts';
import type { AdmissionRequest, ReviewedObject } from '../protocol/admission-review.ts';
import type { RecentlyDenied, DeletionInUse } from '../kinds/deletion.ts';
import { deletionIn, validateRequest } from './validate-request.ts';
import type { Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import { DeniedDeletions } from './denied-deletions.ts';
import type { ResourceName } from '../../world/resources.ts';
import { redactedResult } from './redacted-result.ts';

export interface ReviewsOptions {
  readonly observed: Observed;
  /** What Kiln does not implement for an object of a kind that it only observes. */
  readonly unimplemented: (resource: ResourceName, object: ReviewedObject) => string | undefined;
  /** What becomes of the deletion of an object in use. */
  readonly deletionInUse: DeletionInUse;
  /** See `validateRequest`. */
  readonly ownUser: () => string | undefined;
  /** Whether API servers prove their identity here: then the user name in a review of any other client is unverified. */
  readonly clientsProve: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

export class Reviews {
  readonly #options: ReviewsOptions;
  readonly #denied: DeniedDeletions;
  /** A World without objects: a validation in it depends on the request alone. */
  readonly #alone: Observed;

  constructor(options: ReviewsOptions) {
    this.#options = options;
    this.#denied = new DeniedDeletions(options.now);
    this.#alone = { world: new World(options.observed.world.settings), complete: false, checkRequest: () => undefined };
  }

  /** @param proven the client is an API server */
  review(request: AdmissionRequest, proven: boolean): AdmissionResult {
    const { observed, unimplemented, ownUser, clientsProve, deletionInUse: inUse } = this.#options;
    const { user } = request;
    const recentlyDenied: RecentlyDenied = (resource, key) => this.#denied.has({ resource, key, user });
    const result = validateRequest(request, observed, unimplemented, { inUse, recentlyDenied }, ownUser());
    const deletion = deletionIn(request);
    // Any client can send any user's name. If unproven reviews counted, a stranger could get the next deletion of that user allowed.
    const isOfUser = proven || !clientsProve;
    if (isOfUser && deletion !== undefined && result.denials.length > 0) this.#denied.note({ ...deletion, user });
    if (proven || result.denials.length + result.warnings.length === 0) return result;
    return redactedResult(request, result, this.#validateAlone(request));
  }

  #validateAlone(request: AdmissionRequest): AdmissionResult {
    try {
      return validateRequest(request, this.#alone, this.#options.unimplemented);
    } catch {
      // The findings in the real World still count.
      return ALLOWED;
    }
  }
}
