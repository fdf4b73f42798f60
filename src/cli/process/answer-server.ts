/**
 * Answers commands of this user: one at a time, for a small share of the processor's time, and never of another user. Nothing is written and
 * nothing is sent elsewhere for it. Without the socket commands read the cluster themselves.
 */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Log } from '../../runtime/log.ts';
import type { Answer, Question } from './answer-socket.ts';
import { ACCEPTED, isPrivate, MOST_ANSWER_BYTES, MOST_QUESTION_BYTES } from './answer-socket.ts';

const CONNECTIONS = 8;
const REQUEST_MS = 5_000;
/** After an answer none is given for this many times as long as it took: answering takes at most a quarter of the time. */
const REST = 3;

export interface AnswerServerOptions {
  /** Undefined: there can be none. */
  readonly socket: string | undefined;
  /** Why a question is not answered now; cheap. */
  readonly refusal: (question: Question) => string | undefined;
  /** Rejects if the command has to read for itself. */
  readonly answer: (question: Question) => Promise<Answer>;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** @returns ends it. Resolves at once where there can be none: it is a convenience */
export async function serveAnswers(options: AnswerServerOptions): Promise<() => Promise<void>> {
  const { socket, log } = options;
  const none = (): Promise<void> => Promise.resolve();
  if (socket === undefined) return none;
  try {
    const folder = dirname(socket);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isPrivate(socket)) throw new Error(`${folder} is not a folder of this user alone`);
    if (await isServed(socket)) throw new Error(`another controller of this host answers at ${socket}`);
    // Of a process that was killed.
    rmSync(socket, { force: true });
    const open = new Set<Socket>();
    const server = await listen(socket, options, open);
    return () =>
      new Promise((done) => {
        server.close(() => done());
        for (const connection of open) connection.destroy();
      });
  } catch (error) {
    log.info('commands of this host are not answered; they read the cluster themselves', {
      reason: error instanceof Error ? error.message : String(error),
    });
    return none;
  }
}

async function listen(socket: string, options: AnswerServerOptions, open: Set<Socket>): Promise<Server> {
  const turns = new AnswerTurns(options);
  const server = createServer((connection) => {
    open.add(connection);
    connection.on('close', () => open.delete(connection));
    read(connection, (line) => void turns.take(line, connection));
  });
  server.maxConnections = CONNECTIONS;
  await new Promise<void>((done, failed) => {
    // An error of one connection, after the server has begun to listen.
    server.on('error', failed);
    server.listen(socket, done);
  });
  chmodSync(socket, 0o600);
  server.unref();
  return server;
}

/** Gets one line; what is longer, or does not come, ends the connection. */
function read(connection: Socket, take: (line: string) => void): void {
  let text = '';
  connection.setEncoding('utf8');
  connection.unref();
  const late = setTimeout(() => connection.destroy(), REQUEST_MS);
  late.unref();
  connection.on('error', () => undefined);
  connection.on('close', () => clearTimeout(late));
  const onData = (chunk: string): void => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end === -1 && text.length <= MOST_QUESTION_BYTES) return;
    connection.off('data', onData);
    connection.resume();
    if (end === -1 || end > MOST_QUESTION_BYTES) connection.destroy();
    else take(text.slice(0, end));
  };
  connection.on('data', onData);
}

/** One question at a time. */
class AnswerTurns {
  readonly #options: AnswerServerOptions;
  readonly #now: () => number;
  #underWay = false;
  #restsUntil = -Infinity;

  constructor(options: AnswerServerOptions) {
    this.#options = options;
    this.#now = options.now ?? ((): number => performance.now());
  }

  async take(line: string, connection: Socket): Promise<void> {
    const { answer, log } = this.#options;
    const began = this.#now();
    const question = questionIn(line);
    const refused = question === undefined ? 'not a question' : this.#refusal(question, began);
    if (question === undefined || refused !== undefined) {
      log.debug('a command was not answered', { reason: refused });
      connection.end();
      return;
    }
    this.#underWay = true;
    connection.write(`${ACCEPTED}\n`);
    try {
      const text = JSON.stringify(await answer(question));
      if (text.length > MOST_ANSWER_BYTES) connection.end();
      else connection.end(`${text}\n`);
    } catch (error) {
      // The command reads for itself, and reports.
      log.debug('a command was not answered', { command: question.command, reason: String(error) });
      connection.end();
    } finally {
      this.#underWay = false;
      this.#restsUntil = this.#now() + REST * (this.#now() - began);
    }
  }

  #refusal(question: Question, now: number): string | undefined {
    if (this.#underWay) return 'another command is answered';
    return now < this.#restsUntil ? 'resting' : this.#options.refusal(question);
  }
}

function questionIn(line: string): Question | undefined {
  try {
    const found = JSON.parse(line) as Partial<Question> | null;
    if (found === null || typeof found !== 'object') return undefined;
    const { version, command, words, namespace, output, all, colors, ovnNb } = found;
    if (command !== 'status' && command !== 'explain') return undefined;
    if (!Array.isArray(words) || words.length > 2 || !words.every((word) => typeof word === 'string')) return undefined;
    const isText = (value: unknown): boolean => value === undefined || typeof value === 'string';
    if (typeof version !== 'string' || typeof ovnNb !== 'string' || !isText(namespace) || !isText(output)) return undefined;
    return { ...found, version, command, words, all: all === true, colors: colors === true, ovnNb };
  } catch {
    return undefined;
  }
}

function isServed(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const connection = connect(socket);
    const end = (answer: boolean): void => {
      connection.destroy();
      done(answer);
    };
    connection.once('connect', () => end(true));
    connection.once('error', () => end(false));
  });
}
