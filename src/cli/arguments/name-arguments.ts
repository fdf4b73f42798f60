/** Names on the command line: rejected at once if no API server can have an object of that name. */
import { InvalidArgumentError } from 'commander';
import { isObjectName } from '../../api/values/object-name.ts';

export function objectName(text: string): string {
  if (!isObjectName(text))
    throw new InvalidArgumentError(`"${text}" is no name of an object: lower-case letters, digits, dashes and dots, at most 253.`);
  return text;
}

/** A DNS label (RFC 1123): a name without dots. */
export function namespaceName(text: string): string {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text))
    throw new InvalidArgumentError(`"${text}" is no name of a namespace: lower-case letters, digits and dashes, at most 63.`);
  return text;
}
