/** Roles and their bindings: defaults, and the checks of rules, references and subjects. */
import type { Json, JsonObject } from '../json.ts';
import { at, equal, isObject, list, object, text } from '../json.ts';
import type { Strategy } from '../resource.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { nameErrors } from './field-rules.ts';

const GROUP = 'rbac.authorization.k8s.io';
const SUBJECTS = ['ServiceAccount', 'User', 'Group'];

function ruleErrors(rule: Json, field: string, namespaced: boolean): FieldError[] {
  const { verbs, nonResourceURLs, apiGroups, resources } = object(rule);
  const errors = list(verbs).length === 0 ? [required(`${field}.verbs`, 'verbs must contain at least one value')] : [];
  if (list(nonResourceURLs).length > 0) {
    const why = namespaced
      ? 'namespaced rules cannot apply to non-resource URLs'
      : list(apiGroups).length + list(resources).length > 0
        ? 'rules cannot apply to both regular resources and non-resource URLs'
        : undefined;
    return why === undefined ? errors : [...errors, invalidValue(`${field}.nonResourceURLs`, nonResourceURLs, why)];
  }
  if (list(apiGroups).length === 0) errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (list(resources).length === 0) errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  return errors;
}

function rulesErrors(role: JsonObject, namespaced: boolean): FieldError[] {
  return list(role['rules']).flatMap((rule, index) => ruleErrors(rule, `rules[${index}]`, namespaced));
}

export const roles: Strategy = { nameRule: 'path', validate: (role) => rulesErrors(role, true) };

export const clusterRoles: Strategy = {
  nameRule: 'path',
  validate: (role) => [
    ...rulesErrors(role, false),
    ...(role['aggregationRule'] !== undefined && list(at(role, 'aggregationRule', 'clusterRoleSelectors')).length === 0
      ? [required('aggregationRule.clusterRoleSelectors', 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
      : []),
  ],
};

function subjectErrors(subject: Json, field: string, namespaced: boolean): FieldError[] {
  const { kind, name, namespace, apiGroup = '' } = object(subject);
  const errors = text(name) === '' ? [required(`${field}.name`)] : [];
  const group = kind === 'ServiceAccount' ? '' : GROUP;
  if (!SUBJECTS.includes(text(kind))) return [...errors, notSupported(`${field}.kind`, kind ?? '', SUBJECTS)];
  if (apiGroup !== group) errors.push(notSupported(`${field}.apiGroup`, apiGroup, [group]));
  if (kind !== 'ServiceAccount') return errors;
  if (text(name) !== '') errors.push(...nameErrors(name, `${field}.name`, 'subdomain'));
  if (!namespaced && text(namespace) === '') errors.push(required(`${field}.namespace`));
  return errors;
}

/** @param known kinds of roles that the binding may reference */
function bindings(known: readonly string[]): Strategy {
  const namespaced = known.includes('Role');
  return {
    nameRule: 'path',
    applyDefaults: (binding) => {
      const role = binding['roleRef'];
      if (isObject(role)) role['apiGroup'] ??= GROUP;
      for (const subject of list(binding['subjects']))
        if (isObject(subject)) subject['apiGroup'] ??= subject['kind'] === 'User' || subject['kind'] === 'Group' ? GROUP : '';
      for (const subject of list(binding['subjects'])) if (isObject(subject) && subject['apiGroup'] === '') delete subject['apiGroup'];
    },
    validate: (binding, old) => {
      const { apiGroup, kind, name } = object(binding['roleRef']);
      return [
        ...(old === undefined || equal(binding['roleRef'], old['roleRef'])
          ? []
          : [invalidValue('roleRef', binding['roleRef'], 'cannot change roleRef')]),
        ...(apiGroup === undefined || apiGroup === GROUP ? [] : [notSupported('roleRef.apiGroup', apiGroup, [GROUP])]),
        ...(known.includes(text(kind)) ? [] : [notSupported('roleRef.kind', kind ?? '', known)]),
        ...(text(name) === '' ? [required('roleRef.name')] : []),
        ...list(binding['subjects']).flatMap((subject, index) => subjectErrors(subject, `subjects[${index}]`, namespaced)),
      ];
    },
  };
}

export const roleBindings = bindings(['Role', 'ClusterRole']);
export const clusterRoleBindings = bindings(['ClusterRole']);
