/** Default folder of the laboratory. */
export const DEFAULT_DIRECTORY = '.kiln';
/** Default address of metrics and probes: this machine alone. */
export const DEFAULT_BIND = '127.0.0.1:10670';
/** Log file of the laboratory, in its folder beside the kubeconfig. */
export const LABORATORY_LOG = 'kiln.log';
