import { ask } from '../../cni/agent-socket.ts';
import { type NodeStatus, STATUS_PATH } from './node-status.ts';

/** The agent gave no status; the message says why. */
export class NodeStatusError extends Error {}

const TIMEOUT_MS = 5_000;

/** Asks the agent that listens at a socket. @throws NodeStatusError */
export async function readNodeStatus(socket: string): Promise<NodeStatus> {
  const answer = await ask(socket, STATUS_PATH, {}, TIMEOUT_MS);
  if (answer.kind === 'unreachable') throw new NodeStatusError(answer.reason);
  if (answer.status !== 200) throw new NodeStatusError(`it answers with status ${answer.status}`);
  return JSON.parse(answer.body) as NodeStatus;
}
