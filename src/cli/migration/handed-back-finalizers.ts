/**
 * The finalizers of objects as a release of Kube-OVN expects them: one that it does not know would keep a deleted object for ever. Pure.
 */
import { FINALIZER, LEGACY_FINALIZERS } from '../../api/well-known.ts';
import type { KubeObject } from '../../kube/resource.ts';

/** Before this minor release of 1.x the finalizer had its older name. Newer releases rename that at their start. */
const RENAMED_IN = 13;
const [OLDER_NAME = ''] = LEGACY_FINALIZERS;

/**
 * @param minor the release of Kube-OVN, 1.minor
 * @param since the minor release from which on it puts a finalizer on objects of the kind; undefined: it never does
 * @returns undefined if the object has them already
 */
export function handedBackFinalizers({ metadata }: KubeObject, minor: number, since: number | undefined): readonly string[] | undefined {
  const held = metadata.finalizers ?? [];
  if (!held.includes(FINALIZER)) return undefined;
  const others = held.filter((one) => one !== FINALIZER);
  if (since === undefined || minor < since) return others;
  if (minor >= RENAMED_IN) return undefined;
  return others.includes(OLDER_NAME) ? others : [...others, OLDER_NAME];
}
