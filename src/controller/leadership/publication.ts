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
  /** Why the journal cannot be written, and no row is deleted; undefined: it can, or there is none. */
  readonly journalFailure: string | undefined;
  /** Why no rows are collected for now. */
  readonly collectionPause: string | undefined;
}

/** @param troubles why transactions fail, the database cannot be read, the journal cannot be written, the collection is paused */
export function publication(
  settings: Settings,
  { northbound, loss, journal, collection }: Readonly<Record<'northbound' | 'loss' | 'journal' | 'collection', string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return {
    [kilnAnnotation.version]: VERSION,
    [kilnAnnotation.settings]: settingsText(settings),
    [kilnAnnotation.northboundRefusal]: northbound,
    [kilnAnnotation.northboundLoss]: loss,
    [kilnAnnotation.journalFailure]: journal,
    [kilnAnnotation.collectionPause]: collection,
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
    journalFailure: annotations[kilnAnnotation.journalFailure],
    collectionPause: annotations[kilnAnnotation.collectionPause],
  };
}
