/** What is answered on `/`, `/healthz`, `/livez` and `/readyz`. */

const CHECKS = ['ping', 'log', 'etcd'];
const HEALTH = /^\/(healthz|livez|readyz)(?:\/([^/]+))?$/;

/** The text of a health path, with each check where it is asked for; undefined for another path. */
export function health(path: string, query: URLSearchParams): string | undefined {
  const [, endpoint, check] = HEALTH.exec(path) ?? [];
  if (endpoint === undefined || (check !== undefined && !CHECKS.includes(check))) return undefined;
  const excluded = new Set(query.getAll('exclude'));
  if (!query.has('verbose')) return 'ok';
  const lines = (check === undefined ? CHECKS : [check]).map((name) => `[+]${name} ${excluded.has(name) ? 'excluded: ok' : 'ok'}\n`);
  return `${lines.join('')}${endpoint} check passed\n`;
}

/** Every path that is served beside those of single objects. */
export function rootPaths(groups: ReadonlyMap<string, readonly string[]>): string[] {
  const ofGroups = [...groups].flatMap(([group, versions]) =>
    group === '' ? [] : [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)],
  );
  const ofHealth = ['/healthz', '/livez', '/readyz'].flatMap((path) => [path, ...CHECKS.map((check) => `${path}/${check}`)]);
  return ['/api', '/api/v1', '/apis', ...ofGroups, ...ofHealth, '/openapi/v2', '/openapi/v3', '/version'].toSorted();
}
