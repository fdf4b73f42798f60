/**
 * CEL of ValidatingAdmissionPolicies: what a request may change of an object. Each function returns an expression that is true if
 * everything else is unchanged. `dyn` prevents the API server's type check from requiring the fields of one kind.
 */
import { KUBE_OVN_COMPONENT, KUBE_OVN_EVENTS } from '../../api/kube-ovn-events.ts';
import { CONTROLLER_LEASE } from '../../api/well-known.ts';

/** A list of strings. */
export function texts(items: readonly string[]): string {
  return `[${items.map((item) => `'${item}'`).join(', ')}]`;
}

/** The conjunction of all expressions. */
export function all(...expressions: readonly string[]): string {
  return expressions.map((one) => (/ \|\| | \? /.test(one) ? `(${one})` : one)).join(' &&\n');
}

/** An Event with Kiln's name as its source, or with Kube-OVN's and one of its reasons. */
export function isOwnEvent(event: 'object' | 'oldObject'): string {
  const from = (component: string): string => `${event}.reportingComponent == '${component}'`;
  return all(
    `${event}.reportingComponent == ${event}.source.?component.orValue('')`,
    `${from(CONTROLLER_LEASE)} || (${from(KUBE_OVN_COMPONENT)} && ${event}.reason in ${texts(KUBE_OVN_EVENTS)})`,
  );
}

/** One expression for each operation; operations without an entry are denied. */
export function byOperation(allowed: Partial<Readonly<Record<'CREATE' | 'UPDATE' | 'DELETE', string>>>): string {
  const each = Object.entries(allowed).map(([operation, expression]) => `request.operation == '${operation}' ? (\n${expression}\n) : `);
  return `${each.join('')}false`;
}

/** An optional map, in the new and in the old object. */
function maps(path: string): readonly [now: string, before: string] {
  const [, ...fields] = path.split('.');
  const last = fields.length - 1;
  const of = (root: string): string => {
    const [way, field] = [fields.slice(0, last).map((one) => `.${one}`), fields[last] ?? ''];
    return `${root}${way.join('')}.?${field}.orValue({})`;
  };
  return [of('object'), of('oldObject')];
}

/** True if two maps are equal except for these keys. */
export function sameMap(now: string, before: string, free: readonly string[]): string {
  const isFree = free.length === 0 ? '' : `k in ${texts(free)} || `;
  return all(
    `dyn(${now}).all(k, ${isFree}(k in dyn(${before}) && dyn(${now})[k] == dyn(${before})[k]))`,
    `dyn(${before}).all(k, ${isFree}k in dyn(${now}))`,
  );
}

/** True if the objects are equal except for these top-level fields. */
export function sameObject(...free: readonly string[]): string {
  return sameMap('object', 'oldObject', free);
}

/** Fields that the API server itself changes with each write. */
const OF_SERVER = ['resourceVersion', 'generation', 'managedFields'];

/** True if the metadata are equal except for these fields: so name, owners and all others are unchanged. */
export function sameMetadata(...free: readonly string[]): string {
  return sameMap('object.metadata', 'oldObject.metadata', [...OF_SERVER, ...free]);
}

/** True if `path`, such as `object.spec`, is equal except for these fields. */
export function sameFields(path: string, ...free: readonly string[]): string {
  return sameMap(...maps(path), free);
}

/**
 * True if every key of the map that the request sets, changes or removes is allowed.
 * @param allowed expression over the key `k`
 */
export function onlyKeys(path: string, allowed: string): string {
  const [now, before] = maps(path);
  return all(`${now}.all(k, (k in ${before} && ${now}[k] == ${before}[k]) || ${allowed})`, `${before}.all(k, k in ${now} || ${allowed})`);
}

/** True if the conditions in the status are equal except for those of these types. */
export function onlyConditions(types: readonly string[]): string {
  return all(
    ...(['object', 'oldObject'] as const).map(
      (root, at, roots) =>
        `${root}.?status.conditions.orValue([]).all(c, c.type in ${texts(types)} || c in ${roots[1 - at]}.?status.conditions.orValue([]))`,
    ),
  );
}

/** True if the finalizers are equal, except that `own` may be added and removed, and `older` ones removed. */
export function onlyFinalizers(own: string, older: readonly string[]): string {
  const [now, before] = ['object', 'oldObject'].map((root) => `${root}.metadata.?finalizers.orValue([])`) as [string, string];
  return all(`${now}.all(f, f == '${own}' || f in ${before})`, `${before}.all(f, f in ${texts([own, ...older])} || f in ${now})`);
}

/** The string in a field; empty if the field is absent. */
export function text(root: string, path: string): string {
  const [field = '', ...way] = path.split('.').toReversed();
  return `${root}${way
    .toReversed()
    .map((one) => `.${one}`)
    .join('')}.?${field}.orValue('')`;
}
