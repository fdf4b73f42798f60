/** Calls validating admission webhooks over HTTPS before a write, as `admissionregistration.k8s.io/v1` configures them. */
import type { Credential } from '../../../src/certificates/authority.ts';
import type { JsonObject } from '../json.ts';
import { isObject, list, text } from '../json.ts';
import type { Operations } from '../operations.ts';
import type { ResourceRegistry } from '../registry.ts';
import { ApiError } from '../status.ts';
import { WebhookMatcher } from './matching.ts';
import type { AdmissionRequest } from './review.ts';
import { responseOf, reviewOf, verdict } from './review.ts';
import { callWebhook } from './webhook-call.ts';

export class ValidatingWebhooks {
  readonly #operations: Operations;
  readonly #matcher: WebhookMatcher;
  readonly #client: Credential;

  /** @param client the certificate for webhooks that require one */
  constructor(operations: Operations, registry: ResourceRegistry, client: Credential) {
    this.#client = client;
    this.#operations = operations;
    this.#matcher = new WebhookMatcher(operations, registry);
  }

  get isConfigured(): boolean {
    return this.#operations.store.count('validatingwebhookconfigurations') > 0;
  }

  /**
   * @returns the warnings of the webhooks that allowed it.
   * @throws ApiError with the code of the webhook that denied the write; 500 if a webhook with failurePolicy `Fail` cannot be called.
   */
  async admit(asked: AdmissionRequest): Promise<readonly string[]> {
    if (!this.isConfigured || asked.definition.group === 'admissionregistration.k8s.io') return [];
    const answers = this.#operations.store
      .list('validatingwebhookconfigurations')
      .flatMap((configuration) => list(configuration['webhooks']))
      .filter(isObject)
      .flatMap((webhook) => {
        const seen = this.#matcher.match(webhook, asked);
        return seen === undefined ? [] : [this.#ask(webhook, seen)];
      });
    return (await Promise.all(answers)).flat();
  }

  async #ask(webhook: JsonObject, asked: AdmissionRequest): Promise<string[]> {
    const name = text(webhook['name']);
    const uid = this.#operations.environment.uid();
    let response: JsonObject;
    try {
      response = responseOf(await callWebhook(webhook, reviewOf(asked, uid), this.#client), uid);
    } catch (error) {
      if (webhook['failurePolicy'] === 'Ignore') return [];
      const why = error instanceof Error ? error.message : String(error);
      throw new ApiError(500, 'InternalError', `Internal error occurred: failed calling webhook ${JSON.stringify(name)}: ${why}`);
    }
    return verdict(name, response);
  }
}
