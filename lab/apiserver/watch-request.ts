/** The options of a watch, from the query of its request. */
import { negotiate } from './negotiate.ts';
import { parseTarget } from './request.ts';
import type { ResourceRequest } from './resource-handler.ts';
import { integerOf, invalidListOptions, readVersion, selectorOf } from './requested-options.ts';
import { forbiddenField } from './status.ts';
import type { WatchOptions } from './watch-stream.ts';

const DEFAULT_WATCH_MS = 30 * 60_000;

/** @throws ApiError */
export function watchOptionsOf({ definition, target, query, message }: ResourceRequest): Omit<WatchOptions, 'fault'> {
  const presentation = negotiate(message.headers.accept, query);
  const version = query.get('resourceVersion') ?? '';
  if ((query.get('resourceVersionMatch') ?? '') !== '' && !isTrue(query.get('sendInitialEvents')))
    throw invalidListOptions([
      forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    ]);
  readVersion(version);
  const matches = selectorOf(definition, query);
  const initial = version === '' || version === '0' || isTrue(query.get('sendInitialEvents'));
  const seconds = integerOf(query, 'timeoutSeconds');
  return {
    definition,
    namespace: target.namespace,
    matches,
    after: initial ? undefined : Number(version),
    presentation,
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    markInitialEnd: isTrue(query.get('sendInitialEvents')),
    timeoutMs: seconds !== 0 ? Math.max(0, seconds) * 1000 : DEFAULT_WATCH_MS * (1 + Math.random()),
  };
}

const OLD_WATCH = /^(\/(?:api|apis\/[^/]+)\/[^/]+)\/watch(\/.+)$/;

/**
 * Rewrites the oldest form of a watch request, with `watch` in the path, to the form with an option. Other URLs are returned as they are.
 */
export function newWayToWatch(url: URL): URL {
  const [, version = '', what = ''] = OLD_WATCH.exec(url.pathname) ?? [];
  const target = parseTarget(`${version}${what}`);
  if (target === undefined || target.subresource !== '') return url;
  const asked = new URL(url);
  asked.pathname = target.name === '' ? `${version}${what}` : `${version}${what.replace(/\/[^/]+\/*$/, '')}`;
  asked.searchParams.set('watch', 'true');
  const fields = [asked.searchParams.get('fieldSelector') ?? '', target.name === '' ? '' : `metadata.name=${target.name}`];
  asked.searchParams.set('fieldSelector', fields.filter((field) => field !== '').join(','));
  return asked;
}

/** Any present value is true, except for `0` and `false`. */
export function isTrue(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}
