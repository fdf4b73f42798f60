/** `kiln lab exec`: runs a program of the host in the network of a pod of the laboratory. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { commandText, inNamespace } from '../../text/command-text.ts';
import { namespaceName, objectName } from '../arguments/name-arguments.ts';
import { CommandFailure, EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import { laboratoryPackage } from '../laboratory/laboratory.ts';
import { printErrorText } from '../output/terminal.ts';
import { DEFAULT_DIRECTORY } from '../settings/defaults.ts';

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

interface ExecFlags {
  readonly directory?: string;
}

export function addLab(program: Command): void {
  program
    .command('lab')
    .description('commands on a running laboratory')
    .command('exec')
    .description("run a program of this host in a pod's network; only in a laboratory that was started with --packets")
    .argument('<pod>', 'NAMESPACE/POD, or POD in namespace default', podName)
    .argument('<command...>', 'after --: the program and its arguments; its exit code is that of this command')
    .option('--directory <path>', `folder of the laboratory (default: KILN_DIRECTORY, that of KUBECONFIG, or ${DEFAULT_DIRECTORY})`)
    .addHelpText(
      'after',
      '\nExamples:\n  kiln lab exec red-web/web-0 -- ip address\n  kiln lab exec red-web/web-0 -- ping -c 3 10.10.1.1\n',
    )
    .addHelpText(
      'after',
      '\nExit codes: those of the program; else 1 not possible (no laboratory, no such pod, not running), 2 wrong usage.\n',
    )
    .action(async (pod: PodName, command: readonly string[], flags: ExecFlags) => {
      try {
        process.exitCode = await run(['nsenter', `--net=${await pathOf(pod, command, flags)}`, '--', ...command]);
      } catch (error) {
        const failure = failureOf(error, 'lab exec');
        printErrorText(failureText(failure));
        process.exitCode = failure.exit;
      }
    });
}

function podName(text: string): PodName {
  const [one = '', other, ...more] = text.split('/');
  if (more.length > 0) throw new InvalidArgumentError(`"${text}" is neither NAMESPACE/POD nor POD.`);
  return other === undefined ? { namespace: 'default', name: objectName(one) } : { namespace: namespaceName(one), name: objectName(other) };
}

/** `npm start` asks the user to export KUBECONFIG, which is in the laboratory's folder. */
function directoryOf({ directory }: ExecFlags): string {
  const { KILN_DIRECTORY: named = '', KUBECONFIG: kubeconfig = '' } = process.env;
  if (directory !== undefined) return resolve(directory);
  if (named !== '') return resolve(named);
  return existsSync(join(dirname(kubeconfig), 'pid')) && kubeconfig !== '' ? dirname(resolve(kubeconfig)) : resolve(DEFAULT_DIRECTORY);
}

/**
 * The path of the pod's network namespace.
 *
 * @throws CommandFailure
 */
async function pathOf(pod: PodName, command: readonly string[], flags: ExecFlags): Promise<string> {
  const text = `pod ${pod.namespace}/${pod.name}`;
  const directory = directoryOf(flags);
  const laboratory = await laboratoryPackage();
  if (laboratory === undefined)
    throw new CommandFailure(
      EXIT.usage,
      'kiln lab exec failed',
      'this installation does not contain the laboratory',
      'kiln lab exec --help',
    );
  if (process.getuid?.() !== 0)
    throw new CommandFailure(
      EXIT.usage,
      'kiln lab exec needs root',
      'only root may enter the network of a pod',
      commandText`sudo kiln lab exec --directory ${directory} ${pod.namespace}/${pod.name} -- ${command}`,
    );
  const place = await laboratory.placeOf(directory, pod);
  switch (place.kind) {
    case 'running':
      return place.path;
    case 'no-laboratory':
      throw new CommandFailure(
        EXIT.findings,
        `no laboratory runs in ${directory}`,
        'a pod has a network only while its laboratory runs',
        'kiln start --packets, or name the folder of a running one: --directory FOLDER',
      );
    case 'no-packets':
      throw new CommandFailure(
        EXIT.findings,
        `the laboratory in ${directory} carries no packets`,
        'it was started without --packets, so its pods have addresses and no network',
        'stop it, and start it again: kiln start --packets',
      );
    case 'no-pod':
      throw new CommandFailure(
        EXIT.findings,
        `${text} has no network`,
        'it does not exist, has ended, or has no node yet',
        commandText`kubectl get pods ${inNamespace(pod.namespace)} -o wide`,
      );
    case 'starting':
      throw new CommandFailure(
        EXIT.findings,
        `${text} is not running yet`,
        place.failure ?? `node ${place.node} makes its network`,
        commandText`kubectl describe pod ${pod.name} ${inNamespace(pod.namespace)}`,
      );
  }
}

/** @returns the exit code; that of a shell for a program that a signal ended */
async function run([program, ...args]: readonly [string, ...string[]]): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit' });
  // A terminal sends Ctrl-C to the program too, which decides what follows.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return await new Promise((done, fail) => {
    child.on('error', fail);
    child.on('exit', (code, signal) => done(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
