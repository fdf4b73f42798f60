import { existsSync, statSync } from 'node:fs';

/** The agent's own network namespace, and that of the first process that it sees: the node's. Nothing of a pod is made in either. */
const NODE = ['/proc/self/ns/net', '/proc/1/ns/net'] as const;

/**
 * Whether a path leads to the network namespace of the node, whatever its name: a namespace is the device and inode of its file (namespaces(7)).
 * A path that does not exist, or cannot be read, does not.
 *
 * @param node files of the node's namespace
 */
export function isNodeNamespace(path: string, node: readonly string[] = NODE): boolean {
  const [asked, ...ofNode] = [path, ...node].map(identityOf);
  return asked !== undefined && ofNode.includes(asked);
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Whether a path is that of a process which the agent does not see, as some runtimes name a pod's namespace (`/proc/PID/ns/net`). The first process
 * of a container has numbers of its own for processes: there the same path may lead to the namespace of another pod.
 */
export function isOfUnseenProcess(path: string, isFirstProcess = process.pid === 1): boolean {
  return /^\/proc\/\d+\//.test(path) && (isFirstProcess || !existsSync(path));
}
