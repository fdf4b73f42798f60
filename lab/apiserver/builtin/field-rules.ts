/** Checks that many kinds share: ports, addresses, networks, labels and their selectors. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Json } from '../json.ts';
import { at, list, object, text } from '../json.ts';
import { labelKeyProblems, labelValueProblem, nameProblem } from '../object-meta.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../status.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const NOT_NEGATIVE = 'must be greater than or equal to 0';
const NO_ADDRESS = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

function ranges(...networks: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[]): BlockList {
  const blocks = new BlockList();
  for (const network of networks) blocks.addSubnet(...network);
  return blocks;
}

const SPECIAL: readonly (readonly [blocks: BlockList, rule: string])[] = [
  [ranges(['0.0.0.0', 32, 'ipv4'], ['::', 128, 'ipv6']), 'may not be unspecified (0.0.0.0)'],
  [ranges(['127.0.0.0', 8, 'ipv4'], ['::1', 128, 'ipv6']), 'may not be in the loopback range (127.0.0.0/8)'],
  [ranges(['169.254.0.0', 16, 'ipv4'], ['fe80::', 10, 'ipv6']), 'may not be in the link-local range (169.254.0.0/16)'],
  [ranges(['224.0.0.0', 24, 'ipv4'], ['ff02::', 16, 'ipv6']), 'may not be in the link-local multicast range (224.0.0.0/24)'],
];

/** A required name, with its rule. */
export function nameErrors(name: Json | undefined, field: string, rule: 'subdomain' | 'label' = 'label'): FieldError[] {
  if (text(name) === '') return [required(field)];
  const problem = nameProblem(text(name), rule);
  return problem === undefined ? [] : [invalidValue(field, text(name), problem)];
}

/** An optional name. */
export function optionalNameErrors(name: Json | undefined, field: string, rule: 'subdomain' | 'label' = 'label'): FieldError[] {
  return text(name) === '' ? [] : nameErrors(name, field, rule);
}

export function portNumberErrors(port: Json | undefined, field: string): FieldError[] {
  const number = Number(port ?? 0);
  return number >= 1 && number <= 65535 ? [] : [invalidValue(field, number, 'must be between 1 and 65535, inclusive')];
}

/** A port name, by the rule of IANA. */
export function portNameErrors(name: string, field: string): FieldError[] {
  const problems = [
    ...(name.length > 15 ? ['must be no more than 15 characters'] : []),
    ...(/^[-a-z0-9]+$/.test(name) ? [] : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
    ...(/[a-z]/.test(name) ? [] : ['must contain at least one letter (a-z)']),
    ...(name.includes('--') ? ['must not contain consecutive hyphens'] : []),
    ...(/^-|-$/.test(name) ? ['must not begin or end with a hyphen'] : []),
  ];
  return problems.map((problem) => invalidValue(field, name, problem));
}

/** A port number, or the name of a port of the target. */
export function portErrors(port: Json | undefined, field: string): FieldError[] {
  return typeof port === 'string' ? portNameErrors(port, field) : portNumberErrors(port, field);
}

export function protocolErrors(protocol: Json | undefined, field: string, known: readonly string[] = PROTOCOLS): FieldError[] {
  if (text(protocol) === '') return [required(field)];
  return known.includes(text(protocol)) ? [] : [notSupported(field, protocol, known)];
}

/** An optional value of an enumeration. */
export function oneOf(value: Json | undefined, field: string, known: readonly string[]): FieldError[] {
  return text(value) === '' || known.includes(text(value)) ? [] : [notSupported(field, value, known)];
}

export function notNegative(value: Json | undefined, field: string): FieldError[] {
  return typeof value === 'number' && value < 0 ? [invalidValue(field, value, NOT_NEGATIVE)] : [];
}

/** A number, or a percentage of at most `most`. */
export function amountErrors(amount: Json | undefined, field: string, most?: number): FieldError[] {
  if (typeof amount !== 'string') return notNegative(amount, field);
  if (!/^[0-9]+%$/.test(amount))
    return [
      invalidValue(
        field,
        amount,
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ),
    ];
  return most !== undefined && Number.parseInt(amount, 10) > most ? [invalidValue(field, amount, `must not be greater than ${most}%`)] : [];
}

export function addressErrors(address: Json | undefined, field: string): FieldError[] {
  return isIP(text(address)) === 0 ? [invalidValue(field, text(address), NO_ADDRESS)] : [];
}

/** An address of another host: not unspecified, loopback, link-local or multicast. */
export function hostAddressErrors(address: Json | undefined, field: string): FieldError[] {
  const value = text(address);
  if (isIP(value) === 0) return addressErrors(address, field);
  const family = isIPv4(value) ? 'ipv4' : 'ipv6';
  return SPECIAL.filter(([blocks]) => blocks.check(value, family)).map(([, rule]) => invalidValue(field, value, rule));
}

export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

export function parseNetwork(value: string): Network | undefined {
  const [, address = '', length = ''] = /^([^/]+)\/(\d{1,3})$/.exec(value) ?? [];
  const family = isIP(address);
  const prefix = Number(length);
  if (family === 0 || prefix > (family === 4 ? 32 : 128)) return undefined;
  return { address, prefix, family: family === 4 ? 'ipv4' : 'ipv6' };
}

/** Whether `inner` is within `outer` and smaller. */
export function isStrictlyWithin(inner: Network, outer: Network): boolean {
  if (inner.family !== outer.family || inner.prefix <= outer.prefix) return false;
  const blocks = new BlockList();
  blocks.addSubnet(outer.address, outer.prefix, outer.family);
  return blocks.check(inner.address, inner.family);
}

export function labelsErrors(labels: Json | undefined, field: string): FieldError[] {
  return Object.entries(object(labels)).flatMap(([key, value]) => {
    const problem = labelValueProblem(text(value));
    return [
      ...labelKeyProblems(key).map((rule) => invalidValue(field, key, rule)),
      ...(problem === undefined ? [] : [invalidValue(field, value, problem)]),
    ];
  });
}

/** A label selector of a workload or a policy. */
export function selectorErrors(selector: Json | undefined, field: string): FieldError[] {
  return [
    ...labelsErrors(at(selector, 'matchLabels'), `${field}.matchLabels`),
    ...list(at(selector, 'matchExpressions')).flatMap((term, index) => termErrors(term, `${field}.matchExpressions[${index}]`)),
  ];
}

function termErrors(term: Json, field: string): FieldError[] {
  const operator = text(at(term, 'operator'));
  const hasValues = list(at(term, 'values')).length > 0;
  const key = text(at(term, 'key'));
  const errors = labelKeyProblems(key).map((rule) => invalidValue(`${field}.key`, key, rule));
  if (operator === 'In' || operator === 'NotIn') {
    if (!hasValues) errors.unshift(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (hasValues) errors.unshift(forbiddenField(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else errors.unshift(invalidValue(`${field}.operator`, operator, 'not a valid selector operator'));
  return errors;
}
