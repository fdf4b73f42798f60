/**
 * The plan of a new controller, for tests. It uses the test's client: each watch needs its own connection, and a client that has connected
 * before opens them in a fraction of the time.
 */
import { northboundSession } from '../cli/connection/connect.ts';
import { FreshController } from '../controller/fresh-controller.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { SILENT } from '../runtime/log.ts';
import type { Settings } from '../world/settings.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { PATIENCE_MS } from './patience.ts';

export async function freshLook(client: KubeClient, ovnNb: string, settings: Partial<Settings> = {}): Promise<FreshController> {
  const session = northboundSession({ ovnNb }, SILENT);
  return FreshController.open({ client, session, settings: { ...DEFAULT_SETTINGS, ...settings }, timeoutMs: PATIENCE_MS });
}
