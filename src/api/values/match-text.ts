/** A user's match, as OVN will read it (`src/match`): in words for a message. */
import { matchProblem } from '../../match/match-problem.ts';
import type { MatchProblem } from '../../match/match-problem.ts';

export { networksInMatch } from '../../match/networks-in-match.ts';
export { namesInMatch } from '../../match/names-in-match.ts';
export type { NamedInMatch } from '../../match/names-in-match.ts';

const RULE = 'it is a match of OVN (ovn-sb(5), table Logical_Flow), such as ip4.src == 10.0.0.0/8 && tcp.dst == {80, 443}';
/** Longest text that is read, in UTF-16 units: OVN would take it, and every node would have to read it again and again. */
const LONGEST = 65_536;
const TOO_LONG = { problem: `is longer than ${LONGEST} characters`, rule: RULE };
/** Longest part of the wrong word that a message repeats. */
const SHOWN = 40;

/** What is wrong with a policy's match; undefined where OVN takes it. */
export function matchBreach(text: string): { readonly problem: string; readonly rule: string } | undefined {
  return text.length > LONGEST ? TOO_LONG : inWords(matchProblem(text));
}

/** The same of an ACL's, which OVN puts into parentheses: a comment to the end of the line would swallow what follows. */
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
  return { problem: `is not taken by OVN ${where}: ${problem}`, rule: RULE };
}
