/**
 * Modules that packages load and Kiln never runs: each costs memory and time in every process. What stands for them exports the same names.
 */
export interface UnusedPart {
  /** The package that imports it. */
  readonly importer: string;
  /** As it is written there. */
  readonly specifier: string;
  readonly source: string;
}

/** Of the library that reads kubeconfigs. Its thousand generated files take most of the time of a short command; its agents are not used. */
export const UNUSED_BY_KUBECONFIG: readonly UnusedPart[] = [
  ['./gen/index.js', 'createConfiguration', 'ServerConfiguration'],
  ['undici', 'Agent', 'ProxyAgent'],
  // A SOCKS proxy is refused.
  ['socks', 'SocksClient'],
  ['socks-proxy-agent', 'SocksProxyAgent'],
].map(([specifier = '', ...names]) => ({
  importer: '@kubernetes/client-node',
  specifier,
  source: `export const ${names.map((name) => `${name} = undefined`).join(', ')};`,
}));
