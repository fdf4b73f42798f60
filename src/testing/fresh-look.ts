/**
 * The look of a controller that has just started, for tests: by kubeconfig and endpoint, with a client of its own.
 */
import { northboundSession } from '../cli/connect.ts';
import { FreshLook } from '../controller/fresh-look.ts';
import { KubeClient } from '../kube/client.ts';
import { connectionFromKubeconfig } from '../kube/connection.ts';
import { KubeTransport } from '../kube/transport.ts';
import { SILENT } from '../runtime/log.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { PATIENCE_MS } from './patience.ts';

export async function freshLook(kubeconfig: string, ovnNb: string): Promise<FreshLook> {
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: kubeconfig }), { connections: 8 }));
  const session = northboundSession({ ovnNb }, SILENT);
  return FreshLook.open({ client, closesClient: true, session, settings: DEFAULT_SETTINGS, timeoutMs: PATIENCE_MS });
}
