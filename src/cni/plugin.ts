import { existsSync } from 'node:fs';
import type { CollectRequest, InterfaceReply, InterfaceRequest } from './agent-protocol.ts';
import { ask, type Answer } from './agent-socket.ts';
import { CniError } from './cni-error.ts';
import {
  type Attachment,
  type Command,
  type Fields,
  type NetworkConfiguration,
  parseConfiguration,
  readAttachment,
  readCommand,
  readConfiguration,
  readPrevious,
} from './invocation.ts';
import { resultOf } from './result.ts';
import { NEWEST, VERSIONS } from './versions.ts';

/** Longer than the agent waits for a pod's address and flows, shorter than the runtime waits for the plugin. */
const ADD_TIMEOUT_MS = 150_000;
const TIMEOUT_MS = 30_000;
const NO_SUCH_PATH = 404;
/** It cannot read the request: it would not the next time either. */
const MALFORMED = 400;

type Environment = Readonly<Record<string, string | undefined>>;

/** What the program prints on standard output, and its exit code. */
export interface Outcome {
  readonly output: string;
  readonly exit: number;
}

/**
 * One call of the plugin.
 *
 * @param input standard input: the network configuration
 */
export async function call(env: Environment, input: string): Promise<Outcome> {
  let version: unknown = NEWEST;
  try {
    const command = readCommand(env);
    const raw = command === 'VERSION' && input.trim() === '' ? {} : parseConfiguration(input);
    version = raw['cniVersion'] ?? version;
    if (command === 'VERSION') return { output: json({ cniVersion: version, supportedVersions: VERSIONS }), exit: 0 };
    const configuration = readConfiguration(command, raw);
    return { output: json(await perform(command, configuration, raw, env)), exit: 0 };
  } catch (error) {
    const { code, message, details } = error instanceof CniError ? error : new CniError('inputOutput', 'the plugin failed', String(error));
    return { output: json({ cniVersion: version, code, msg: message, details }), exit: 1 };
  }
}

/** The result of a command; undefined for those that print nothing. */
async function perform(
  command: Exclude<Command, 'VERSION'>,
  configuration: NetworkConfiguration,
  raw: Fields,
  env: Environment,
): Promise<object | undefined> {
  switch (command) {
    case 'ADD': {
      const attachment = readAttachment(command, env);
      const answer = await ask(configuration.socket, '/api/v1/add', requestOf(command, configuration, attachment), ADD_TIMEOUT_MS);
      return resultOf(
        reply(answer, 'add', configuration, attachment),
        configuration,
        attachment.networkNamespace,
        attachment.interfaceName,
      );
    }
    case 'DEL': {
      const attachment = readAttachment(command, env);
      const answer = await ask(configuration.socket, '/api/v1/del', requestOf(command, configuration, attachment), TIMEOUT_MS);
      // The namespace took the interface with it. The agent collects the rest when it starts, and must not be what keeps a pod from ending.
      if (answer.kind === 'unreachable' && !existsSync(attachment.networkNamespace)) return undefined;
      reply(answer, 'del', configuration, attachment);
      return undefined;
    }
    case 'CHECK': {
      const attachment = readAttachment(command, env);
      const found = readPrevious(raw, attachment);
      const previous = found === undefined ? {} : { previous: found };
      const answer = await ask(
        configuration.socket,
        '/api/v1/check',
        { ...requestOf(command, configuration, attachment), ...previous },
        TIMEOUT_MS,
      );
      // Kube-OVN's agent has no such check.
      if (answer.kind === 'answer' && answer.status === NO_SUCH_PATH) return undefined;
      reply(answer, 'check', configuration, attachment);
      return undefined;
    }
    case 'GC': {
      const { validAttachments, socket } = configuration;
      if (validAttachments === undefined) return undefined;
      const body: CollectRequest = {
        attachments: validAttachments.map(({ containerId, interfaceName }) => ({ container_id: containerId, if_name: interfaceName })),
      };
      const answer = await ask(socket, '/api/v1/gc', body, TIMEOUT_MS);
      if (answer.kind === 'answer' && answer.status === NO_SUCH_PATH) return undefined;
      reply(answer, 'gc', configuration);
      return undefined;
    }
    case 'STATUS': {
      const answer = await ask(configuration.socket, '/api/v1/status', {}, TIMEOUT_MS);
      if (answer.kind === 'answer' && (isSuccess(answer.status) || answer.status === NO_SUCH_PATH)) return undefined;
      throw new CniError('notAvailable', 'the node agent is not ready', reasonOf(answer, configuration));
    }
  }
}

function requestOf(
  command: Command,
  { type, provider, routes, dns, device }: NetworkConfiguration,
  attachment: Attachment,
): InterfaceRequest {
  return {
    cni_type: type,
    pod_name: attachment.pod.name,
    pod_namespace: attachment.pod.namespace,
    ...(attachment.pod.uid === '' ? {} : { pod_uid: attachment.pod.uid }),
    container_id: attachment.containerId,
    net_ns: attachment.networkNamespace,
    if_name: attachment.interfaceName,
    provider,
    ...(command === 'DEL'
      ? {}
      : { routes, dns: dns ?? {}, vf_driver: device.vfDriver, vhost_user_socket_name: device.vhostUserSocketName }),
    deviceID: device.deviceId,
    vhost_user_socket_volume_name: device.vhostUserSocketVolumeName,
    vhost_user_socket_consumption: device.vhostUserSocketConsumption,
  };
}

const FAILED = {
  add: 'the node agent did not add interface',
  del: 'the node agent did not remove interface',
  check: 'the node agent did not find in order interface',
  gc: 'the node agent did not collect interfaces',
} as const;

/** @throws CniError for every answer but success */
function reply(answer: Answer, verb: keyof typeof FAILED, configuration: NetworkConfiguration, attachment?: Attachment): InterfaceReply {
  const of = attachment === undefined ? '' : ` ${attachment.interfaceName} of pod ${attachment.pod.namespace}/${attachment.pod.name}`;
  if (answer.kind === 'unreachable' || !isSuccess(answer.status)) {
    const isMalformed = answer.kind === 'answer' && answer.status === MALFORMED;
    throw new CniError(isMalformed ? 'invalidConfiguration' : 'tryAgainLater', `${FAILED[verb]}${of}`, reasonOf(answer, configuration));
  }
  const text = answer.body.trim();
  if (text === '') {
    // Kube-OVN's agent has two ways to fail that answer 200 with nothing in it.
    if (verb === 'add') throw new CniError('tryAgainLater', `${FAILED.add}${of}`, 'the node agent answered nothing');
    return {};
  }
  try {
    return JSON.parse(text) as InterfaceReply;
  } catch {
    throw new CniError('undecodable', `${FAILED[verb]}${of}: the answer of the node agent is no JSON`, text.slice(0, 200));
  }
}

function reasonOf(answer: Answer, { socket }: NetworkConfiguration): string {
  if (answer.kind === 'unreachable')
    return `nothing answers on ${socket} (${answer.reason}): does the agent of this node run? kubectl get pods -A -o wide -l app=kiln-agent`;
  try {
    const { error } = JSON.parse(answer.body) as InterfaceReply;
    if (typeof error === 'string' && error !== '') return error;
  } catch {
    // Shown as it is.
  }
  return `status ${answer.status}: ${answer.body.slice(0, 500)}`;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function json(value: object | undefined): string {
  return value === undefined ? '' : `${JSON.stringify(value)}\n`;
}
