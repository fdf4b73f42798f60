/** Role-based access control: the rights of a user, by Roles and ClusterRoles through their bindings. */
import type { Json } from '../json.ts';
import { at, equal, list, text } from '../json.ts';
import type { ObjectStore } from '../store.ts';
import { storeKey } from '../store.ts';
import type { User } from './user.ts';
import { ACCOUNT_PREFIX, ADMINISTRATORS } from './user.ts';

/** One attempt of a user: a verb on a resource, or a GET of another path. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The path of a request that names no resource; empty otherwise. */
  readonly path: string;
}

/** The rights of administrators, independent of bindings. */
const EVERYTHING: readonly Json[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
];

export function isAllowed(store: ObjectStore, user: User, attempt: Attempt): boolean {
  return user.groups.includes(ADMINISTRATORS) || rulesOf(store, user, attempt.namespace).some((rule) => covers(rule, attempt));
}

/** Every rule that the user has in a namespace and in the cluster; with an empty namespace, in the cluster alone. */
export function rulesOf(store: ObjectStore, user: User, namespace: string): Json[] {
  const bindings = [...store.list('clusterrolebindings'), ...(namespace === '' ? [] : store.list('rolebindings', namespace))];
  const own = user.groups.includes(ADMINISTRATORS) ? EVERYTHING : [];
  const bound = bindings
    .filter((binding) => list(binding['subjects']).some((subject) => isSubject(subject, user, binding.metadata.namespace ?? '')))
    .flatMap((binding) => {
      const name = text(at(binding, 'roleRef', 'name'));
      const role =
        at(binding, 'roleRef', 'kind') === 'Role'
          ? store.get('roles', storeKey(binding.metadata.namespace ?? '', name))
          : store.get('clusterroles', name);
      const rules = list(role?.['rules']);
      return binding.metadata.namespace === undefined ? rules : rules.filter((rule) => at(rule, 'nonResourceURLs') === undefined);
    });
  return [...own.filter((rule) => !bound.some((other) => equal(rule, other))), ...bound];
}

function isSubject(subject: Json, user: User, namespace: string): boolean {
  const name = text(at(subject, 'name'));
  switch (at(subject, 'kind')) {
    case 'User':
      return name === user.name;
    case 'Group':
      return user.groups.includes(name);
    case 'ServiceAccount':
      return user.name === `${ACCOUNT_PREFIX}${text(at(subject, 'namespace')) || namespace}:${name}`;
    default:
      return false;
  }
}

export function covers(rule: Json, { verb, group, resource, subresource, name, path }: Attempt): boolean {
  const has = (field: string, ...values: readonly string[]): boolean => {
    const listed = list(at(rule, field));
    return values.some((value) => listed.includes(value));
  };
  if (!has('verbs', verb, '*')) return false;
  if (path !== '') {
    return list(at(rule, 'nonResourceURLs'))
      .map(text)
      .some((url) => url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))));
  }
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const names = list(at(rule, 'resourceNames'));
  return (
    has('apiGroups', group, '*') &&
    (has('resources', whole, '*') || (subresource !== '' && has('resources', `*/${subresource}`))) &&
    (names.length === 0 || (name !== '' && names.includes(name)))
  );
}
