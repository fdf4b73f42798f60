/** The checks of a pod's DNS configuration and of its topology spread constraints. */
import type { JsonObject } from '../json.ts';
import { list, text } from '../json.ts';
import { nameProblem } from '../object-meta.ts';
import type { FieldError } from '../status.ts';
import { invalidValue, notSupported, required } from '../status.ts';
import { addressErrors } from './field-rules.ts';

const MOST_NAMESERVERS = 3;
const UNSATISFIABLE = ['DoNotSchedule', 'ScheduleAnyway'];

/** `spec.dnsConfig`. */
export function resolverErrors({ nameservers, searches }: JsonObject, field: string): FieldError[] {
  const servers = list(nameservers);
  return [
    ...(servers.length > MOST_NAMESERVERS
      ? [invalidValue(`${field}.nameservers`, nameservers, `must not have more than ${MOST_NAMESERVERS} nameservers`)]
      : []),
    ...servers.flatMap((server, index) =>
      addressErrors(server, '').length === 0 ? [] : [invalidValue(`${field}.nameservers[${index}]`, server, 'must be valid IP address')],
    ),
    ...list(searches).flatMap((search, index) => {
      const problem = nameProblem(text(search).replace(/\.$/, ''), 'subdomain');
      return problem === undefined ? [] : [invalidValue(`${field}.searches[${index}]`, search, problem)];
    }),
  ];
}

/** One of `spec.topologySpreadConstraints`. */
export function spreadErrors({ maxSkew = 0, topologyKey, whenUnsatisfiable }: JsonObject, field: string): FieldError[] {
  return [
    ...(Number(maxSkew) > 0 ? [] : [invalidValue(`${field}.maxSkew`, maxSkew, 'must be greater than zero')]),
    ...(text(topologyKey) === '' ? [required(`${field}.topologyKey`, 'can not be empty')] : []),
    ...(UNSATISFIABLE.includes(text(whenUnsatisfiable))
      ? []
      : [notSupported(`${field}.whenUnsatisfiable`, whenUnsatisfiable, UNSATISFIABLE)]),
  ];
}
