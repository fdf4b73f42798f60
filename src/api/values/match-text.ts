/** Checks a user's match as OVN parses it (`src/match-language`), with a message for the user. */
import { matchProblem } from '../../match-language/match-problem.ts';
import type { MatchProblem } from '../../match-language/match-problem.ts';

export { setComparisons } from '../../match-language/match-problem.ts';
export type { SetComparison } from '../../match-language/match-problem.ts';
export { destinationsInMatch } from '../../match-language/destinations-in-match.ts';
export { packetNetworks } from '../../match-language/packet-networks.ts';
export type { PacketNetworks } from '../../match-language/packet-networks.ts';
export { networksInMatch } from '../../match-language/networks-in-match.ts';
export { namesInMatch } from '../../match-language/names-in-match.ts';
export type { NamedInMatch } from '../../match-language/names-in-match.ts';

const RULE = 'it is a match of OVN (ovn-sb(5), table Logical_Flow), such as ip4.src == 10.0.0.0/8 && tcp.dst == {80, 443}';
/** Longest text that Kiln accepts, in UTF-16 units. OVN would accept more, but every node would parse it again and again. */
const LONGEST = 65_536;
const TOO_LONG = { problem: `is longer than ${LONGEST} characters`, rule: RULE };
/** Longest part of the wrong token in a message. */
const SHOWN = 40;

/** The fault of a policy's match; undefined if OVN accepts it. */
export function matchBreach(text: string): { readonly problem: string; readonly rule: string } | undefined {
  return text.length > LONGEST ? TOO_LONG : inWords(matchProblem(text));
}

/** The same for an ACL's match. Kiln puts it into parentheses, and a comment to the end of the line would hide the closing one. */
export function aclMatchBreach(text: string): { readonly problem: string; readonly rule: string } | undefined {
  if (text.length > LONGEST) return TOO_LONG;
  const alone = matchProblem(text);
  if (alone !== undefined) return inWords(alone);
  const enclosed = matchProblem(`(${text})`);
  return enclosed === undefined ? undefined : inWords({ ...enclosed, position: enclosed.position - 1 });
}

function inWords(wrong: MatchProblem | undefined): { readonly problem: string; readonly rule: string } | undefined {
  if (wrong === undefined) return undefined;
  const { position, found, problem } = wrong;
  const word = found.length <= SHOWN ? found : `${found.slice(0, SHOWN)}…`;
  const where = found === '' ? 'at its end' : `at character ${position} (${word})`;
  return { problem: `is not accepted by OVN ${where}: ${problem}`, rule: RULE };
}
