/** `kiln agent status`: what the agent of this node sees and wants, and what differs. */
import { type Command, Option } from 'commander';
import { NodeStatusError, readNodeStatus } from '../../agent/status/read-node-status.ts';
import type { NodeStatus } from '../../agent/status/node-status.ts';
import { CommandFailure, EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import { print, printErrorText } from '../output/terminal.ts';

const EXIT_CODES = `
Exit codes: 0 everything is as it should be, 1 something differs, waits or fails, 2 wrong usage, 3 the agent does not answer.
`;

interface StatusFlags {
  readonly socket: string;
  readonly output: 'text' | 'json';
}

export function addAgentStatus(agent: Command, socket: string): void {
  agent
    .command('status')
    .description('what the agent of this node sees and wants, and what differs')
    .option('--socket <path>', 'socket of the agent', socket)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExamples:\n  kiln agent status\n  kiln agent status -o json\n')
    .addHelpText('after', EXIT_CODES)
    .action(async (_: unknown, command: Command) => {
      process.exitCode = await agentStatus(command.optsWithGlobals<StatusFlags>());
    });
}

async function agentStatus({ socket, output }: StatusFlags): Promise<number> {
  try {
    const status = await readNodeStatus(socket);
    print(output === 'json' ? `${JSON.stringify(status, undefined, 2)}\n` : statusLines(status));
    return isRight(status) ? EXIT.fine : EXIT.findings;
  } catch (error) {
    const failure =
      error instanceof NodeStatusError
        ? new CommandFailure(
            EXIT.unreachable,
            `the node agent does not answer at ${socket}`,
            error.message,
            'kubectl get pods -n kube-system -l app=kiln-agent -o wide',
          )
        : failureOf(error, 'agent status');
    printErrorText(failureText(failure));
    return failure.exit;
  }
}

function isRight({ waitingFor, interfaces, differences, failures }: NodeStatus): boolean {
  return waitingFor.length + differences.length + failures.length === 0 && interfaces.every(({ state }) => state === 'ready');
}

export function statusLines(status: NodeStatus): readonly string[] {
  const { node, waitingFor, interfaces, watchers, differences, failures } = status;
  const ready = interfaces.filter(({ state }) => state === 'ready').length;
  return [
    `node ${node}: ${ready} of ${interfaces.length} interfaces of pods are ready`,
    ...waitingFor.map((what) => `not read yet: ${what}`),
    ...interfaces.map(
      ({ pod, interface: name, device, addresses, state, reason }) =>
        `  ${pod} ${name}  ${device}  ${addresses || '-'}  ${state}${reason === undefined ? '' : `: ${reason}`}`,
    ),
    ...watchers.map(({ router, state }) => `BFD with router ${router}: ${state}`),
    ...differences.map(({ target, writes }) => `differs in ${target}: ${writes.length} writes are due`),
    ...failures.map(({ of, reason }) => `failed and tried again: ${of}: ${reason}`),
    ...(isRight(status) ? ['everything is as it should be'] : []),
  ];
}
