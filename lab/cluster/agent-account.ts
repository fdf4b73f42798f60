/** The account of the node agents, with the rights of deploy/agent.yaml and no others. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { RealCluster } from '../real-cluster/real-cluster.ts';

const MANIFEST = join(import.meta.dirname, '../../deploy/agent.yaml');
const KINDS: ReadonlySet<string> = new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding']);

/** Applies the account and its rights, and writes its kubeconfig for programs on nodes. */
export async function writeAgentAccount(cluster: RealCluster, file: string): Promise<void> {
  const objects = parseAllDocuments(await readFile(MANIFEST, 'utf8')).map((document) => document.toJS() as { readonly kind: string });
  const account = objects.filter(({ kind }) => KINDS.has(kind)).map((object) => stringify(object));
  await cluster.kubectl(['apply', '-f', '-'], account.join('---\n'));
  const token = await cluster.kubectl(['create', 'token', 'kiln-agent', '--namespace=kube-system', '--duration=24h']);
  await cluster.writeTokenKubeconfig(file, token.trim());
}
