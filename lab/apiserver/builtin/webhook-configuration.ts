/** ValidatingWebhookConfigurations: defaults and rules. */
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, text } from '../json.ts';
import { nameProblem } from '../object-meta.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';

const DEFAULTS: JsonObject = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  timeoutSeconds: 10,
  namespaceSelector: {},
  objectSelector: {},
};
const OPERATIONS = ['*', 'CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

function defaults(configuration: JsonObject): void {
  for (const webhook of list(configuration['webhooks'])) {
    if (!isObject(webhook)) continue;
    for (const [key, value] of Object.entries(DEFAULTS)) webhook[key] ??= isObject(value) ? {} : value;
    const service = at(webhook, 'clientConfig', 'service');
    if (isObject(service)) service['port'] ??= 443;
    for (const rule of list(webhook['rules'])) if (isObject(rule)) rule['scope'] ??= '*';
  }
}

function validateWebhook(webhook: Json, field: string): FieldError[] {
  const errors: FieldError[] = [];
  const oneOf = (key: string, supported: readonly string[]): void => {
    const value = at(webhook, key);
    if (!supported.includes(text(value))) errors.push(notSupported(`${field}.${key}`, value, supported));
  };
  const name = text(at(webhook, 'name'));
  if (name === '') errors.push(required(`${field}.name`));
  else if (nameProblem(name, 'subdomain') !== undefined || name.split('.').length < 3)
    errors.push(invalidValue(`${field}.name`, name, 'should be a domain with at least three segments separated by dots'));
  errors.push(...validateRules(list(at(webhook, 'rules')), `${field}.rules`));
  oneOf('failurePolicy', ['Fail', 'Ignore']);
  oneOf('matchPolicy', ['Equivalent', 'Exact']);
  if (at(webhook, 'sideEffects') === undefined) errors.push(required(`${field}.sideEffects`, 'must specify one of None, NoneOnDryRun'));
  else oneOf('sideEffects', ['None', 'NoneOnDryRun']);
  const seconds = Number(at(webhook, 'timeoutSeconds'));
  if (seconds < 1 || seconds > 30)
    errors.push(invalidValue(`${field}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'));
  const versions = list(at(webhook, 'admissionReviewVersions'));
  if (versions.length === 0) errors.push(required(`${field}.admissionReviewVersions`, 'must specify one of v1, v1beta1'));
  else if (!versions.includes('v1') && !versions.includes('v1beta1'))
    errors.push(invalidValue(`${field}.admissionReviewVersions`, versions, 'must include at least one of v1, v1beta1'));
  errors.push(...validateClient(at(webhook, 'clientConfig'), `${field}.clientConfig`));
  return errors;
}

function validateRules(rules: readonly Json[], field: string): FieldError[] {
  return rules.flatMap((rule, index) => {
    const errors: FieldError[] = [];
    for (const key of ['operations', 'apiGroups', 'apiVersions', 'resources'])
      if (list(at(rule, key)).length === 0) errors.push(required(`${field}[${index}].${key}`));
    list(at(rule, 'operations')).forEach((operation, at_) => {
      if (!OPERATIONS.includes(text(operation)))
        errors.push(notSupported(`${field}[${index}].operations[${at_}]`, operation, OPERATIONS.toSorted(byName)));
    });
    return errors;
  });
}

function byName(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function validateClient(client: Json | undefined, field: string): FieldError[] {
  const url = at(client, 'url');
  const service = at(client, 'service');
  if ((url === undefined) === (service === undefined)) return [required(field, 'exactly one of url or service is required')];
  if (url === undefined) return text(at(service, 'name')) === '' ? [required(`${field}.service.name`)] : [];
  const address = URL.canParse(text(url)) ? new URL(text(url)) : undefined;
  if (address === undefined) return [invalidValue(`${field}.url`, url, 'url must be a valid URL')];
  return address.protocol === 'https:'
    ? []
    : [
        invalidValue(
          `${field}.url`,
          address.protocol.slice(0, -1),
          "'https' is the only allowed URL scheme; desired format: https://host[/path]",
        ),
      ];
}

export const webhookConfigurationStrategy: Strategy = {
  applyDefaults: defaults,
  validate: (configuration) => list(configuration['webhooks']).flatMap((webhook, index) => validateWebhook(webhook, `webhooks[${index}]`)),
};
