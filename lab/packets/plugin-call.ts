import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Sandbox } from '../node/sandbox.ts';

/** The program of the CNI plugin, from its source. */
const PLUGIN = [process.execPath, join(import.meta.dirname, '../../src/cni/main.ts')] as const;

/** The outcome of one call of the plugin's program. */
export interface Called {
  readonly exit: number | null;
  /** A result, or an error, as JSON; empty for a command that prints nothing. */
  readonly output: string;
  /** What it printed on standard error: nothing, unless it crashed. */
  readonly errors: string;
}

/** What a runtime says of a sandbox. */
export interface CalledSandbox {
  readonly containerId: string;
  /** Its path; empty once it is gone. */
  readonly namespace: Pick<Sandbox['namespace'], 'path'>;
}

export interface PluginCall {
  /** Default: the plugin from its source. */
  readonly program?: readonly [string, ...string[]];
  /** `ADD`, `DEL`, … */
  readonly command: string;
  /** The socket of the node's agent. */
  readonly socket: string;
  readonly pod: { readonly namespace: string; readonly name: string };
  readonly sandbox: CalledSandbox;
  /** Its name in the sandbox. Default: `eth0`. */
  readonly interfaceName?: string;
  /** Where one plugin finds another. Default: `/opt/cni/bin`. */
  readonly plugins?: string;
  /** `CNI_ARGS`. Default: as containerd has them, without the uid. */
  readonly args?: string;
  /** More keys of the network configuration. */
  readonly more?: object;
  /** Ends the program. */
  readonly signal?: AbortSignal;
}

/** Calls the plugin as a container runtime does: a program with an environment, the network configuration on its standard input. */
export async function callPlugin(call: PluginCall): Promise<Called> {
  const { program = PLUGIN, command, socket, pod, sandbox, more = {}, signal } = call;
  const env = {
    PATH: process.env['PATH'] ?? '',
    CNI_COMMAND: command,
    CNI_CONTAINERID: sandbox.containerId,
    CNI_NETNS: sandbox.namespace.path,
    CNI_IFNAME: call.interfaceName ?? 'eth0',
    CNI_PATH: call.plugins ?? '/opt/cni/bin',
    CNI_ARGS: call.args ?? `IgnoreUnknown=1;K8S_POD_NAMESPACE=${pod.namespace};K8S_POD_NAME=${pod.name}`,
  };
  const configuration = { cniVersion: '1.1.0', name: 'kube-ovn', type: 'kube-ovn', server_socket: socket, ...more };
  return await new Promise((resolve, reject) => {
    const [file, ...args] = program;
    const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'], signal });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    child.on('error', reject);
    child.on('close', (exit) => resolve({ exit, output, errors }));
    // It may end before it has read all.
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(configuration));
  });
}
