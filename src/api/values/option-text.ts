/**
 * Options in Kube-OVN's specs: `k=v,k=v`. A list inside a value has semicolons, and OVN requires commas. Kiln omits an option that OVN
 * would reject, since OVN would reject the others with it.
 */
import { dhcpOptionProblem, dhcpOptionValue } from '../../match-language/dhcp-option.ts';
import { databaseTextProblem } from './database-text.ts';

/** Purpose of the options: DHCP replies, or router advertisements (ovn-nb(5), Logical_Router_Port, `ipv6_ra_configs`). */
export type OptionsFor = 'DHCPv4' | 'DHCPv6' | 'RA';

interface Item {
  /** The item as the user wrote it. */
  readonly item: string;
  readonly name: string;
  readonly value: string;
  readonly problem: string | undefined;
}

/** Longest text that Kiln accepts, in UTF-16 units: a DHCP reply has far less room. */
const LONGEST = 65_536;
const TOO_LONG = { problem: `is longer than ${LONGEST} characters`, rule: 'one answer has to hold all options' };

/** The valid options. */
export function parseOptions(text: string, of: OptionsFor): Record<string, string> {
  return Object.fromEntries(itemsOf(text, of).flatMap(({ name, value, problem }) => (problem === undefined ? [[name, value]] : [])));
}

/** The faults of the options; each continues a sentence after the quoted text. Empty if all are valid. */
export function optionProblems(text: string, of: OptionsFor): readonly { readonly problem: string; readonly rule: string }[] {
  const unfit = databaseTextProblem(text);
  if (unfit !== undefined) return [{ problem: unfit.problem, rule: unfit.rule }];
  if (text.length > LONGEST) return [TOO_LONG];
  const rule = `it is a list of options as name=value with commas, such as ${EXAMPLE[of]}; a list inside a value has semicolons`;
  return itemsOf(text, of).flatMap(({ item, problem }) =>
    problem === undefined ? [] : [{ problem: `has the option "${item}": ${problem}`, rule }],
  );
}

const EXAMPLE: Readonly<Record<OptionsFor, string>> = {
  DHCPv4: 'lease_time=3600,router=10.0.0.1',
  DHCPv6: 'server_id=00:00:00:2e:2f:c5',
  RA: 'address_mode=slaac,send_periodic=true',
};

function itemsOf(text: string, of: OptionsFor): readonly Item[] {
  if (text.length > LONGEST || databaseTextProblem(text) !== undefined) return [];
  return text.split(',').flatMap((item): Item[] => {
    const trimmed = item.trim();
    if (trimmed === '') return [];
    const at = trimmed.indexOf('=');
    const name = (at === -1 ? trimmed : trimmed.slice(0, at)).trim();
    if (at <= 0) return [{ item: trimmed, name, value: '', problem: 'an option is written name=value' }];
    const text = trimmed
      .slice(at + 1)
      .trim()
      .replaceAll(';', ',');
    if (of === 'RA') return [{ item: trimmed, name, value: text, problem: advertisementProblem(name, text) }];
    const family = of === 'DHCPv4' ? 4 : 6;
    const value = dhcpOptionValue(family, name, text);
    return [{ item: trimmed, name, value, problem: dhcpOptionProblem(family, name, value) }];
  });
}

/** ovn-nb(5), Logical_Router_Port, `ipv6_ra_configs`; undefined allows any text. */
const ADVERTISEMENT: Readonly<Record<string, { readonly is: RegExp; readonly words: string } | undefined>> = {
  address_mode: { is: /^(slaac|dhcpv6_stateful|dhcpv6_stateless)$/, words: 'slaac, dhcpv6_stateful or dhcpv6_stateless' },
  router_preference: { is: /^(HIGH|MEDIUM|LOW)$/, words: 'HIGH, MEDIUM or LOW' },
  send_periodic: { is: /^(true|false)$/i, words: 'true or false' },
  mtu: { is: /^\d{1,9}$/, words: 'a whole number' },
  max_interval: { is: /^\d{1,9}$/, words: 'a number of seconds' },
  min_interval: { is: /^\d{1,9}$/, words: 'a number of seconds' },
  route_info: undefined,
  rdnss: undefined,
  dnssl: undefined,
};

function advertisementProblem(name: string, value: string): string | undefined {
  if (!Object.hasOwn(ADVERTISEMENT, name)) return `router advertisements of OVN have no option ${name}`;
  const expected = ADVERTISEMENT[name];
  return expected === undefined || expected.is.test(value) ? undefined : `${name} is ${expected.words}`;
}
