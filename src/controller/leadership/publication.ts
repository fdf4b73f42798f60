/** The annotations that the leader writes on its Lease, and commands read. */
import { kilnAnnotation } from '../../api/well-known.ts';
import type { Lease } from '../../kube/leader/lease.ts';
import { VERSION } from '../../runtime/version.ts';
import type { Settings } from '../../world/settings.ts';
import { parseSettings, settingsText } from '../../world/settings-text.ts';

export interface Published {
  readonly version: string | undefined;
  readonly settings: Settings | undefined;
  /** Why every Northbound transaction fails; undefined: they succeed. */
  readonly northboundFailure: string | undefined;
  /** Why the Northbound database cannot be read; undefined: it can. */
  readonly northboundLoss: string | undefined;
}

export function publication(
  settings: Settings,
  { northboundFailure, northboundLoss }: Pick<Published, 'northboundFailure' | 'northboundLoss'>,
): Readonly<Record<string, string | undefined>> {
  return {
    [kilnAnnotation.version]: VERSION,
    [kilnAnnotation.settings]: settingsText(settings),
    [kilnAnnotation.northboundRefusal]: northboundFailure,
    [kilnAnnotation.northboundLoss]: northboundLoss,
  };
}

/** The annotations of the current or last holder. */
export function publishedIn(lease: Lease | undefined): Published {
  const annotations = lease?.metadata.annotations ?? {};
  const text = annotations[kilnAnnotation.settings];
  return {
    version: annotations[kilnAnnotation.version],
    settings: text === undefined ? undefined : parseSettings(text),
    northboundFailure: annotations[kilnAnnotation.northboundRefusal],
    northboundLoss: annotations[kilnAnnotation.northboundLoss],
  };
}
