/** A controller with the rules. Its code is most of the product, which commands that only read objects do not load. */
import { RULES } from '../../compile/rules.ts';
import type { ControllerOptions } from '../../controller/controller.ts';
import { Controller } from '../../controller/controller.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import type { Settings } from '../../world/settings.ts';

export function makeController(
  client: KubeClient,
  session: OvsdbSession,
  log: Log,
  more: Partial<ControllerOptions> & { readonly settings?: Settings } = {},
): Controller {
  return new Controller({ client, session, rules: RULES, settings: DEFAULT_SETTINGS, namespace: 'kube-system', log, ...more });
}
