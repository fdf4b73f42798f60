/** The controller's ServiceAccount from `deploy`, with a token like that of its pod. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiServerMinor } from '../../lab/real-cluster/real-cluster.ts';

/** The cluster of the account, and how to inspect it. */
export interface AccountCluster {
  readonly api: { readonly kubeconfig: string };
  applyAtOnce(yaml: string): Promise<void>;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  kubectlFails(args: readonly string[], input?: string): Promise<string>;
  eventually(what: string, look: () => Promise<boolean>): Promise<unknown>;
}

/** A manifest of `deploy`. */
export function deployed(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');
}

/** The first minor version of Kubernetes whose API server accepts deploy/admission-policy.yaml: 1.30 has no CEL functions on addresses. */
export const POLICIES_SINCE = 31;

async function hasPolicies(): Promise<boolean> {
  return (await apiServerMinor()) >= POLICIES_SINCE;
}

const USER = 'system:serviceaccount:kube-system:kiln-controller';

/** The empty Secret of the webhook. */
export async function applyWebhookSecret(cluster: Pick<AccountCluster, 'applyAtOnce'>): Promise<void> {
  const documents = deployed('webhook.yaml').split(/^---\n/m);
  await cluster.applyAtOnce(documents.filter((document) => document.includes('kind: Secret\n')).join('---\n'));
}

/**
 * Applies RBAC, policies and the empty Secret of `deploy`, without the Service and the webhook configuration, which have no target here.
 * @returns kubeconfig of the account
 */
export async function controllerAccount(cluster: AccountCluster): Promise<string> {
  await cluster.applyAtOnce(deployed('rbac.yaml'));
  const [, ...documents] = deployed('webhook.yaml').split(/^---\n/m);
  await cluster.applyAtOnce(documents.filter((document) => !document.includes('kind: ValidatingWebhookConfiguration')).join('---\n'));
  const policies = await hasPolicies();
  if (policies) await cluster.applyAtOnce(deployed('admission-policy.yaml'));
  const answer = await cluster.kubectl(
    ['create', '--raw', '/api/v1/namespaces/kube-system/serviceaccounts/kiln-controller/token', '-f', '-'],
    '{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}',
  );
  const { status } = JSON.parse(answer) as { readonly status: { readonly token: string } };
  const kubeconfig = `${cluster.api.kubeconfig}.controller-account`;
  const admin = readFileSync(cluster.api.kubeconfig, 'utf8');
  const own = admin.replace(
    /("?token"?: ).*$/m,
    (_, key: string) => `${key}${JSON.stringify(status.token)}${/token.*,$/m.test(admin) ? ',' : ''}`,
  );
  await writeFile(kubeconfig, own, { mode: 0o600 });
  // The API server learns of RBAC and policies by its own watches.
  for (const right of [
    ['patch', 'vpcs.kubeovn.io'],
    ['create', 'leases.coordination.k8s.io'],
    ['patch', 'validatingwebhookconfigurations.admissionregistration.k8s.io/kiln'],
    ['update', 'secrets/kiln-webhook-tls'],
  ])
    await cluster.eventually(`it may ${right.join(' ')}`, async () => {
      return (await cluster.kubectl(['auth', 'can-i', ...right, `--as=${USER}`, '-n', 'kube-system'])).trim() === 'yes';
    });
  if (policies)
    await cluster.eventually('the policies are in effect', async () => {
      const lease = 'apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: probe, namespace: kube-system}\n';
      return (await cluster.kubectlFails(['create', '--dry-run=server', `--as=${USER}`, '-f', '-'], lease)).includes('may only');
    });
  return kubeconfig;
}
