/** Validating admission webhooks: asked before a write, over HTTPS, as `admissionregistration.k8s.io/v1` configures them. */
import { request } from 'node:https';
import type { Environment } from './environment.ts';
import type { Json, JsonObject } from './json.ts';
import { at, isObject, list, object, parseJson, text } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ResourceDefinition } from './resource.ts';
import { selectsLabels } from './selectors.ts';
import { ApiError } from './status.ts';
import type { ObjectStore } from './store.ts';

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly definition: ResourceDefinition;
  readonly object: KubeObject | undefined;
  readonly old: KubeObject | undefined;
  readonly dryRun: boolean;
  readonly subresource: string;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

export class ValidatingWebhooks {
  readonly #store: ObjectStore;
  readonly #environment: Environment;

  constructor(store: ObjectStore, environment: Environment) {
    this.#store = store;
    this.#environment = environment;
  }

  get isConfigured(): boolean {
    return this.#store.count('validatingwebhookconfigurations') > 0;
  }

  /**
   * @returns the warnings of the webhooks that allowed it.
   * @throws ApiError with the code of the webhook that denied it, 500 for one that cannot be asked and must be.
   */
  async admit(asked: AdmissionRequest): Promise<readonly string[]> {
    const configurations = this.#store.list('validatingwebhookconfigurations');
    if (asked.definition.group === 'admissionregistration.k8s.io') return [];
    const webhooks = configurations
      .flatMap((configuration) => list(configuration['webhooks']))
      .filter(isObject)
      .filter((webhook) => this.#concerns(webhook, asked));
    const answers = await Promise.all(webhooks.map((webhook) => this.#ask(webhook, asked)));
    return answers.flat();
  }

  #concerns(webhook: JsonObject, asked: AdmissionRequest): boolean {
    const { definition, operation, subresource } = asked;
    const resource = subresource === '' ? definition.plural : `${definition.plural}/${subresource}`;
    const named = (values: Json | undefined, value: string): boolean => list(values).some((entry) => entry === '*' || entry === value);
    const matches = list(webhook['rules']).some((rule) => {
      const scope = at(rule, 'scope') ?? '*';
      return (
        named(at(rule, 'operations'), operation) &&
        named(at(rule, 'apiGroups'), definition.group) &&
        named(at(rule, 'apiVersions'), definition.version) &&
        list(at(rule, 'resources')).some((entry) => resourceMatches(text(entry), resource, definition.plural, subresource)) &&
        (scope === '*' || (scope === 'Namespaced') === definition.namespaced)
      );
    });
    if (!matches) return false;
    const subject = asked.object ?? asked.old;
    const namespaceName = definition.table === 'namespaces' ? subject?.metadata.name : subject?.metadata.namespace;
    const namespace = namespaceName === undefined ? undefined : this.#store.get('namespaces', namespaceName);
    const namespaceLabels = namespace?.metadata.labels ?? (definition.table === 'namespaces' ? subject?.metadata.labels : undefined);
    if (namespaceLabels !== undefined && !selectsLabels(webhook['namespaceSelector'] ?? {}, namespaceLabels)) return false;
    const selector = webhook['objectSelector'] ?? {};
    return [asked.object, asked.old].some((item) => item !== undefined && selectsLabels(selector, item.metadata.labels ?? {}));
  }

  async #ask(webhook: JsonObject, asked: AdmissionRequest): Promise<string[]> {
    const name = text(webhook['name']);
    let response: JsonObject;
    try {
      response = object(at(await call(webhook, this.#review(asked)), 'response'));
      if (typeof response['allowed'] !== 'boolean') throw new Error('the answer has no response.allowed');
    } catch (error) {
      if (webhook['failurePolicy'] === 'Ignore') return [];
      throw new ApiError(
        500,
        'InternalError',
        `Internal error occurred: failed calling webhook ${JSON.stringify(name)}: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    if (response['allowed']) return list(response['warnings']).map(text);
    const status = object(response['status']);
    const why = text(status['message']) || text(status['reason']);
    const message =
      why === ''
        ? `admission webhook ${JSON.stringify(name)} denied the request without explanation`
        : `admission webhook ${JSON.stringify(name)} denied the request: ${why}`;
    const code = typeof status['code'] === 'number' && status['code'] >= 400 ? status['code'] : 403;
    throw new ApiError(
      code,
      text(status['reason']) || (code === 403 ? 'Forbidden' : ''),
      message,
      isObject(status['details']) ? status['details'] : undefined,
    );
  }

  #review(asked: AdmissionRequest): JsonObject {
    const { definition, operation, subresource } = asked;
    const subject = asked.object ?? asked.old;
    const kind = { group: definition.group, version: definition.version, kind: definition.kind };
    const resource = { group: definition.group, version: definition.version, resource: definition.plural };
    const body: JsonObject = {
      uid: this.#environment.uid(),
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      ...(subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource }),
      name: subject?.metadata.name ?? '',
      ...(subject?.metadata.namespace === undefined ? {} : { namespace: subject.metadata.namespace }),
      operation,
      userInfo: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      object: asked.object ?? null,
      oldObject: asked.old ?? null,
      dryRun: asked.dryRun,
      options: asked.options,
    };
    return { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: body };
  }
}

function resourceMatches(pattern: string, resource: string, plural: string, subresource: string): boolean {
  if (pattern === '*/*' || pattern === resource) return true;
  if (pattern === '*') return subresource === '';
  return pattern === `${plural}/*` || (pattern === `*/${subresource}` && subresource !== '');
}

async function call(webhook: JsonObject, review: JsonObject): Promise<Json> {
  const address = text(at(webhook, 'clientConfig', 'url'));
  if (address === '') throw new Error('a webhook behind a Service cannot be reached here: give clientConfig.url');
  const authority = text(at(webhook, 'clientConfig', 'caBundle'));
  const body = JSON.stringify(review);
  const url = new URL(address);
  url.searchParams.set('timeout', `${String(webhook['timeoutSeconds'] ?? 10)}s`);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) },
        timeout: Number(webhook['timeoutSeconds'] ?? 10) * 1000,
        ...(authority === '' ? {} : { ca: Buffer.from(authority, 'base64') }),
      },
      (answer) => {
        const chunks: Buffer[] = [];
        let size = 0;
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) outgoing.destroy(new Error('the answer is too large'));
          else chunks.push(chunk);
        });
        answer.once('end', () => {
          try {
            if (answer.statusCode !== 200) throw new Error(`the server answered ${String(answer.statusCode)}`);
            resolve(parseJson(Buffer.concat(chunks).toString('utf8')));
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
      },
    );
    outgoing.once('timeout', () => outgoing.destroy(new Error('context deadline exceeded')));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
