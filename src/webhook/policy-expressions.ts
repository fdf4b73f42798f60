/**
 * CEL of ValidatingAdmissionPolicies: what of an object a request may change. Each function returns an expression that is true where all else
 * stays as it was. `dyn` keeps the API server's type check from asking for the fields of one kind.
 */

/** A list of texts. */
export function texts(items: readonly string[]): string {
  return `[${items.map((item) => `'${item}'`).join(', ')}]`;
}

/** All of these hold. */
export function all(...expressions: readonly string[]): string {
  return expressions.map((one) => (/ \|\| | \? /.test(one) ? `(${one})` : one)).join(' &&\n');
}

/** What holds for each operation; one that is not named is refused. */
export function byOperation(allowed: Partial<Readonly<Record<'CREATE' | 'UPDATE' | 'DELETE', string>>>): string {
  const each = Object.entries(allowed).map(([operation, expression]) => `request.operation == '${operation}' ? (\n${expression}\n) : `);
  return `${each.join('')}false`;
}

/** A map that an object may lack, of the object as it is asked for and as it was. */
function maps(path: string): readonly [now: string, before: string] {
  const [, ...fields] = path.split('.');
  const last = fields.length - 1;
  const of = (root: string): string => {
    const [way, field] = [fields.slice(0, last).map((one) => `.${one}`), fields[last] ?? ''];
    return `${root}${way.join('')}.?${field}.orValue({})`;
  };
  return [of('object'), of('oldObject')];
}

/** Two maps are the same but for these keys. */
export function sameMap(now: string, before: string, free: readonly string[]): string {
  const isFree = free.length === 0 ? '' : `k in ${texts(free)} || `;
  return all(
    `dyn(${now}).all(k, ${isFree}(k in dyn(${before}) && dyn(${now})[k] == dyn(${before})[k]))`,
    `dyn(${before}).all(k, ${isFree}k in dyn(${now}))`,
  );
}

/** The object is the same but for these fields of its first level. */
export function sameObject(...free: readonly string[]): string {
  return sameMap('object', 'oldObject', free);
}

/** What the API server itself changes with each write. */
const OF_SERVER = ['resourceVersion', 'generation', 'managedFields'];

/** The metadata are the same but for these fields: name, owners and all the others stay. */
export function sameMetadata(...free: readonly string[]): string {
  return sameMap('object.metadata', 'oldObject.metadata', [...OF_SERVER, ...free]);
}

/** `path`, such as `object.spec`, is the same but for these fields. */
export function sameFields(path: string, ...free: readonly string[]): string {
  return sameMap(...maps(path), free);
}

/**
 * The keys of a map that are set, changed or removed are allowed ones.
 * @param allowed expression over the key `k`
 */
export function onlyKeys(path: string, allowed: string): string {
  const [now, before] = maps(path);
  return all(`${now}.all(k, (k in ${before} && ${now}[k] == ${before}[k]) || ${allowed})`, `${before}.all(k, k in ${now} || ${allowed})`);
}

/** Of the finalizers, `own` come and go, and `older` ones go; those of others stay. */
export function onlyFinalizers(own: string, older: readonly string[]): string {
  const [now, before] = ['object', 'oldObject'].map((root) => `${root}.metadata.?finalizers.orValue([])`) as [string, string];
  return all(`${now}.all(f, f == '${own}' || f in ${before})`, `${before}.all(f, f in ${texts([own, ...older])} || f in ${now})`);
}

/** The text in a field, empty where there is none. */
export function text(root: string, path: string): string {
  const [field = '', ...way] = path.split('.').toReversed();
  return `${root}${way
    .toReversed()
    .map((one) => `.${one}`)
    .join('')}.?${field}.orValue('')`;
}
