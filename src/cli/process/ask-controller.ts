/**
 * Asks the controller of this host what a command prints, before the command's code is loaded: it has read everything already. Whatever is
 * unusual, a flag that is not known here, no answer in time, or a refusal, leads to the command itself, without a word.
 */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { VERSION } from '../../runtime/version.ts';
import type { Environment } from '../../runtime/cache-directory.ts';
import { hasColors } from '../output/has-colors.ts';
import { print, printError } from '../output/terminal.ts';
import type { Answer, Question } from './answer-socket.ts';
import { ACCEPTED, answerSocket, isPrivate, MOST_ANSWER_BYTES } from './answer-socket.ts';
import { endWithOutput } from './output-watch.ts';

/** A controller that does not even accept a question in this time is busy. */
const ACCEPTED_WITHIN_MS = 200;
/** From then on. */
const ANSWERED_WITHIN_MS = 2_000;

/** @param args of the command line, with the command @returns the exit code; undefined: nothing was printed, and the command has to read */
export async function askController(args: readonly string[], env: Environment = process.env): Promise<number | undefined> {
  const asked = questionOf(args, env);
  if (asked === undefined) return undefined;
  const socket = answerSocket(asked.origin, env);
  if (socket === undefined || !existsSync(socket) || !isPrivate(socket)) return undefined;
  const answer = await exchange(socket, asked.question);
  if (answer === undefined) return undefined;
  endWithOutput(asked.question.command);
  for (const line of answer.say) printError(line);
  for (const output of answer.out) print(output);
  return answer.exit;
}

interface Asked {
  readonly question: Question;
  readonly origin: { readonly kubeconfig?: string; readonly context?: string };
}

/** Flags with a value. */
const VALUED = new Map([
  ['-n', 'namespace'],
  ['--namespace', 'namespace'],
  ['-o', 'output'],
  ['--output', 'output'],
  ['--kubeconfig', 'kubeconfig'],
  ['--context', 'context'],
] as const);
type Valued = 'namespace' | 'output' | 'kubeconfig' | 'context';

/** Undefined for a command line that only the command itself understands. */
export function questionOf([command, ...rest]: readonly string[], env: Environment): Asked | undefined {
  if (command !== 'status' && command !== 'explain') return undefined;
  const words: string[] = [];
  const values: Partial<Record<Valued, string>> = {};
  let all = false;
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? '';
    if (!word.startsWith('-')) words.push(word);
    else if (word === '--all' && command === 'explain') all = true;
    else {
      const equals = word.startsWith('--') ? word.indexOf('=') : -1;
      const name = (VALUED as ReadonlyMap<string, Valued>).get(equals === -1 ? word : word.slice(0, equals));
      const value = equals === -1 ? rest[++at] : word.slice(equals + 1);
      if (name === undefined || value === undefined || value === '' || value.startsWith('-') || values[name] !== undefined)
        return undefined;
      values[name] = value;
    }
  }
  if (command === 'status' ? words.length > 0 : words.length === 0 || words.length > 2) return undefined;
  const { kubeconfig, context, ...of } = values;
  return {
    origin: { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) },
    question: {
      ...{ version: VERSION, command, words, ...of, all },
      colors: hasColors('auto', process.stdout, env),
      ovnNb: env['KILN_OVN_NB'] ?? '',
    },
  };
}

/** Undefined without an answer in time, or if the controller refuses. */
export function exchange(socket: string, question: Question): Promise<Answer | undefined> {
  return new Promise((done) => {
    const connection = connect(socket);
    let text = '';
    const end = (answer?: Answer): void => {
      clearTimeout(timer);
      connection.destroy();
      done(answer);
    };
    let timer = setTimeout(() => end(), ACCEPTED_WITHIN_MS);
    connection.setEncoding('utf8');
    connection.on('connect', () => connection.write(`${JSON.stringify(question)}\n`));
    connection.on('data', (chunk: string) => {
      const before = text.includes('\n');
      text += chunk;
      if (text.length > MOST_ANSWER_BYTES) return end();
      if (before || !text.includes('\n')) return;
      if (!text.startsWith(`${ACCEPTED}\n`)) return end();
      clearTimeout(timer);
      timer = setTimeout(() => end(), ANSWERED_WITHIN_MS);
    });
    connection.on('end', () => end(answerIn(text)));
    connection.on('error', () => end());
    connection.on('close', () => end());
  });
}

function answerIn(text: string): Answer | undefined {
  const [first, line = '', last] = text.split('\n');
  // Without the end of its line an answer was cut off.
  if (first !== ACCEPTED || last !== '') return undefined;
  try {
    const answer = JSON.parse(line) as Answer | { readonly exit?: undefined };
    return typeof answer.exit === 'number' ? answer : undefined;
  } catch {
    return undefined;
  }
}
