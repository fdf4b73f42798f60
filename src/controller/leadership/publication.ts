/** What the leading controller tells of itself on its Lease, and what commands read there. */
import { kilnAnnotation } from '../../api/well-known.ts';
import type { Lease } from '../../kube/lease.ts';
import { VERSION } from '../../runtime/version.ts';
import type { Settings } from '../../world/settings.ts';
import { parseSettings, settingsText } from '../../world/settings-text.ts';

export interface Published {
  readonly version: string | undefined;
  readonly settings: Settings | undefined;
  /** Why the Northbound database carries out nothing of what the controller sends; undefined where it does. */
  readonly northboundRefusal: string | undefined;
  /** Why the controller cannot follow the Northbound database; undefined where it does. */
  readonly northboundLoss: string | undefined;
}

export function publication(
  settings: Settings,
  { northboundRefusal, northboundLoss }: Pick<Published, 'northboundRefusal' | 'northboundLoss'>,
): Readonly<Record<string, string | undefined>> {
  return {
    [kilnAnnotation.version]: VERSION,
    [kilnAnnotation.settings]: settingsText(settings),
    [kilnAnnotation.northboundRefusal]: northboundRefusal,
    [kilnAnnotation.northboundLoss]: northboundLoss,
  };
}

/** Of the one that holds the Lease, or held it last. */
export function publishedIn(lease: Lease | undefined): Published {
  const annotations = lease?.metadata.annotations ?? {};
  const text = annotations[kilnAnnotation.settings];
  return {
    version: annotations[kilnAnnotation.version],
    settings: text === undefined ? undefined : parseSettings(text),
    northboundRefusal: annotations[kilnAnnotation.northboundRefusal],
    northboundLoss: annotations[kilnAnnotation.northboundLoss],
  };
}
