/** The string formats that an API server checks in custom objects; other formats have no effect. */
import { isIPv4, isIPv6 } from 'node:net';
import { millisecondsOf } from '../rfc3339.ts';

/** Times that were found valid: an object is written repeatedly with the same ones. */
const rightTimes = new Set<string>();
const MOST_TIMES = 2_000;

function isTime(value: string): boolean {
  if (millisecondsOf(value.toUpperCase()) === undefined) return false;
  if (rightTimes.size >= MOST_TIMES) rightTimes.clear();
  rightTimes.add(value);
  return true;
}

const checks: Readonly<Record<string, (value: string) => boolean>> = {
  ipv4: (value) => isIPv4(value),
  ipv6: (value) => isIPv6(value),
  cidr: (value) => {
    const [address = '', length = '', ...rest] = value.split('/');
    if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
    return isIPv4(address) ? Number(length) <= 32 : isIPv6(address) && Number(length) <= 128;
  },
  'date-time': (value) => rightTimes.has(value) || isTime(value),
  date: (value) => millisecondsOf(`${value}T00:00:00Z`) !== undefined,
  uri: (value) => URL.canParse(value),
  email: (value) => /^[^@\s]+@[^@\s]+$/.test(value),
  hostname: (value) =>
    value.length <= 253 && /^[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?)*$/.test(value),
  mac: (value) => /^(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/.test(value),
  uuid: (value) => /^[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/.test(value),
  byte: (value) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value),
};

export function matchesFormat(format: string, value: string): boolean {
  return checks[format]?.(value) ?? true;
}
