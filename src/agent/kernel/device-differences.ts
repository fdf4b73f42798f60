/** In what the device of a pod is not as it should be: for the answer to a runtime, and for the log. Pure. */
import type { ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput, DeviceRoute } from '../world/outputs.ts';
import { ownRoutes, routeText } from './ip-commands.ts';

/** What a runtime asks about: the result of its ADD, as far as it is about this interface. Empty and 0 for what it does not say. */
export interface PreviousResult {
  readonly mac: string;
  /** With the length of the prefix. */
  readonly addresses: readonly string[];
  readonly routes: readonly DeviceRoute[];
}

const NONE = { routes: [] };

export interface Difference {
  readonly field: 'device' | 'link' | 'MAC address' | 'MTU' | 'addresses' | 'routes';
  readonly expected: string;
  readonly found: string;
}

/**
 * The name needs no comparison: a device is looked for by it.
 *
 * @param previous missing: none is known
 */
export function deviceDifferences(output: DeviceOutput, observed: ObservedDevice, previous?: PreviousResult): readonly Difference[] {
  const { innerName, namespacePath, connected } = output;
  const device = `${innerName} in ${namespacePath}`;
  if (observed.kind === 'no-namespace') return [{ field: 'device', expected: device, found: 'no such network namespace' }];
  if (observed.kind === 'absent') return [{ field: 'device', expected: device, found: 'none' }];
  const differing: Difference[] = [];
  const compare = (field: Difference['field'], expected: string, found: string): void => {
    if (expected !== found) differing.push({ field, expected, found });
  };
  if (connected) compare('link', 'up', observed.up ? 'up' : 'down');
  compare('MAC address', output.mac, observed.mac);
  if (previous !== undefined && previous.mac !== '' && previous.mac !== output.mac) compare('MAC address', previous.mac, observed.mac);
  compare('MTU', String(output.mtu), String(observed.mtu));
  // Without packets through its port it has neither.
  if (!connected) return differing;
  const lists = [
    ['addresses', [...output.addresses, ...(previous?.addresses ?? [])], observed.addresses],
    ['routes', [output, previous ?? NONE].flatMap((of) => ownRoutes(of, observed).map(routeText)), observed.routes],
  ] as const;
  for (const [field, expected, found] of lists)
    if (expected.some((one) => !found.includes(one)))
      differing.push({ field, expected: listText([...new Set(expected)]), found: listText(found) });
  return differing;
}

/** `MTU is 600, not 1400; addresses are none, not 10.16.0.5/16` */
export function differencesText(differences: readonly Difference[]): string {
  return differences
    .map(
      ({ field, expected, found }) => `${field} ${field.endsWith('s') && !field.startsWith('M') ? 'are' : 'is'} ${found}, not ${expected}`,
    )
    .join('; ');
}

function listText(values: readonly string[]): string {
  return values.length === 0 ? 'none' : values.toSorted().join(', ');
}
