/** Selects the webhooks that an API server calls for a write. */
import type { Json, JsonObject } from '../json.ts';
import { at, list, text } from '../json.ts';
import type { Operations } from '../operations.ts';
import type { ResourceRegistry } from '../registry.ts';
import type { ResourceDefinition } from '../resource.ts';
import { selectsLabels } from '../selectors.ts';
import type { AdmissionRequest } from './review.ts';

export class WebhookMatcher {
  readonly #operations: Operations;
  readonly #registry: ResourceRegistry;

  constructor(operations: Operations, registry: ResourceRegistry) {
    this.#operations = operations;
    this.#registry = registry;
  }

  /** @returns the request in the version that the webhook's rule names; undefined if no rule of the webhook matches */
  match(webhook: JsonObject, asked: AdmissionRequest): AdmissionRequest | undefined {
    if (!this.#selects(webhook, asked)) return undefined;
    const rules = list(webhook['rules']);
    if (rules.some((rule) => wants(rule, asked.definition, asked))) return asked;
    if (webhook['matchPolicy'] === 'Exact') return undefined;
    const equivalent = this.#registry
      .all()
      .find(
        (other) => other !== asked.definition && other.table === asked.definition.table && rules.some((rule) => wants(rule, other, asked)),
      );
    return equivalent === undefined ? undefined : this.#seenAs(equivalent, asked);
  }

  #seenAs(definition: ResourceDefinition, asked: AdmissionRequest): AdmissionRequest {
    const seen = (item: AdmissionRequest['object']): AdmissionRequest['object'] =>
      item === undefined ? undefined : this.#operations.convert(asked.definition, definition, item);
    return { ...asked, definition, requested: asked.definition, object: seen(asked.object), old: seen(asked.old) };
  }

  #selects(webhook: JsonObject, { definition, object, old }: AdmissionRequest): boolean {
    const subject = object ?? old;
    const isNamespace = definition.table === 'namespaces';
    const name = isNamespace ? subject?.metadata.name : subject?.metadata.namespace;
    if (name !== undefined) {
      const namespace = this.#operations.store.get('namespaces', name);
      const labels = (isNamespace ? object?.metadata.labels : undefined) ?? namespace?.metadata.labels ?? {};
      if (!selectsLabels(webhook['namespaceSelector'] ?? {}, labels)) return false;
    }
    const selector = webhook['objectSelector'] ?? {};
    return [object, old].some((item) => item !== undefined && selectsLabels(selector, item.metadata.labels ?? {}));
  }
}

function wants(rule: Json, definition: ResourceDefinition, { operation, subresource }: AdmissionRequest): boolean {
  const named = (values: Json | undefined, value: string): boolean => list(values).some((entry) => entry === '*' || entry === value);
  const scope = at(rule, 'scope') ?? '*';
  return (
    named(at(rule, 'operations'), operation) &&
    named(at(rule, 'apiGroups'), definition.group) &&
    named(at(rule, 'apiVersions'), definition.version) &&
    list(at(rule, 'resources')).some((entry) => resourceMatches(text(entry), definition.plural, subresource)) &&
    (scope === '*' || (scope === 'Namespaced') === definition.namespaced)
  );
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  const [resource, wanted = ''] = pattern.split('/');
  return (resource === '*' || resource === plural) && (wanted === subresource || (wanted === '*' && pattern !== '*'));
}
