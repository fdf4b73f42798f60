/** The answers on `/`, `/healthz`, `/livez` and `/readyz`. */

/** The checks of a real server that make sense here. */
const ALIVE = [
  'ping',
  'log',
  'etcd',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/rbac/bootstrap-roles',
  'autoregister-completion',
];
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  healthz: ALIVE,
  livez: ALIVE,
  readyz: [...ALIVE.slice(0, 3), 'informer-sync', ...ALIVE.slice(3), 'shutdown'],
};
const HEALTH = /^\/(healthz|livez|readyz)(?:\/(.+))?$/;

/** The text of a health path, with a line for each check if requested; undefined for another path. */
export function health(path: string, query: URLSearchParams): string | undefined {
  const [, endpoint, check] = HEALTH.exec(path) ?? [];
  const checks = CHECKS[endpoint ?? ''];
  if (checks === undefined || (check !== undefined && !checks.includes(check))) return undefined;
  const excluded = new Set(query.getAll('exclude'));
  if (!query.has('verbose')) return 'ok';
  const lines = (check === undefined ? checks : [check]).map((name) => `[+]${name} ${excluded.has(name) ? 'excluded: ok' : 'ok'}\n`);
  return `${lines.join('')}${endpoint ?? ''} check passed\n`;
}

/** Every served path except those of single objects. */
export function rootPaths(groups: ReadonlyMap<string, readonly string[]>): string[] {
  const ofGroups = [...groups].flatMap(([group, versions]) =>
    group === '' ? [] : [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)],
  );
  const ofHealth = Object.entries(CHECKS).flatMap(([path, checks]) => [`/${path}`, ...checks.map((check) => `/${path}/${check}`)]);
  return ['/api', '/api/v1', '/apis', ...ofGroups, ...ofHealth, '/openapi/v2', '/openapi/v3', '/version'].toSorted();
}
