/** What a leading controller answers to commands: each runs as it does in a process of its own, on the controller's World instead of one that it reads. */
import type { Controller } from '../../controller/controller.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Connection } from '../../kube/transport/connection.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import { VERSION } from '../../runtime/version.ts';
import { RESOURCE_NAMES } from '../../world/resources.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { painter } from '../output/paint.ts';
import type { Line, Output } from '../output/terminal.ts';
import type { Answer, Question } from '../process/answer-socket.ts';
import { serveAnswers } from '../process/answer-server.ts';

export interface LiveSources {
  /** Of the Lease. */
  readonly namespace: string;
  /** See `answerSocket`; undefined: commands are not answered. */
  readonly socket: string | undefined;
  readonly controller: Controller;
  readonly client: KubeClient;
  readonly connection: Connection;
  readonly session: OvsdbSession;
  /** As `--ovn-nb` has it. */
  readonly ovnNb: string;
  readonly log: Log;
}

/** Beyond so many objects and rows an answer would hold up the controller; reading them takes a command seconds anyway. */
const MOST_ENTRIES = 20_000;
/** The default of commands: others are not asked. */
const NAMESPACE = 'kube-system';
const OUTPUTS = { status: ['table', 'wide', 'name', 'json', 'yaml'], explain: ['table', 'wide', 'json', 'yaml'] } as const;

/** @returns ends it */
export function serveLiveAnswers(sources: LiveSources): Promise<() => Promise<void>> {
  const { socket, namespace, log } = sources;
  return serveAnswers({
    socket: namespace === NAMESPACE ? socket : undefined,
    refusal: (question) => refusal(sources, question),
    // What a look at the World left to do is done by a turn: nothing else would wake the controller.
    answer: (question) => answer(sources, question).finally(() => sources.controller.wake()),
    log,
  });
}

/**
 * Why a question is not answered now. Only a controller answers that leads, has read everything, and has nothing left to do: then a command
 * that reads finds the same.
 */
function refusal({ controller, session, ovnNb }: LiveSources, question: Question): string | undefined {
  if (question.version !== VERSION) return `the command is of version ${question.version}`;
  if (question.ovnNb !== ovnNb) return 'the command names another Northbound database, or none';
  const { phase, waitingFor, stale } = controller.status;
  if (phase !== 'leading') return phase;
  const behind = [...waitingFor, ...stale, ...(session.state === 'synced' ? [] : ['the Northbound database'])];
  if (behind.length > 0) return `not up to date: ${behind.join(', ')}`;
  if (!controller.quiet) return 'busy';
  const { tables, rows } = controller.world;
  const entries = RESOURCE_NAMES.reduce((sum, resource) => sum + (tables[resource]?.size ?? 0), rows.owned.size);
  return entries > MOST_ENTRIES ? `${entries} objects and rows` : undefined;
}

async function answer(sources: LiveSources, { command, words, namespace, output = 'table', all, colors }: Question): Promise<Answer> {
  const { client, connection, controller, session, ovnNb } = sources;
  const out: Output[] = [];
  const say: Line[] = [];
  const io: CommandIo = {
    client,
    connection,
    namespace: connection.namespace ?? 'default',
    out: (one) => void out.push(one),
    say: (line) => void say.push(line),
    paint: painter(colors ? 'always' : 'never', process.stdout),
    lastWords: () => undefined,
    onInterrupt: () => undefined,
    ask: undefined,
    live: {
      way: { text: ovnNb, ovnNb, options: {}, isFound: false },
      cluster: { world: controller.world, northboundRead: true, schemaVersion: session.schema?.version, northboundProblem: undefined },
    },
  };
  const flags = {
    ...{ leaseNamespace: NAMESPACE, requestTimeout: '30s', color: 'never' as const },
    ...(namespace === undefined ? {} : { namespace }),
  };
  if (command === 'status') {
    const { runStatus } = await import('./status.ts');
    return { exit: await runStatus({ ...flags, output: oneOf(OUTPUTS.status, output) }, io), out, say };
  }
  const { runExplain } = await import('./explain.ts');
  const [kind = '', name] = words;
  return { exit: await runExplain(kind, name, { ...flags, output: oneOf(OUTPUTS.explain, output), all }, io), out, say };
}

function oneOf<const T extends string>(known: readonly T[], text: string): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new Error(`-o ${text}`);
  return found;
}
