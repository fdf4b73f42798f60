/** Default folder of the laboratory. */
export const DEFAULT_DIRECTORY = '.kiln';
/** Log file of the laboratory, in its folder beside the kubeconfig. */
export const LABORATORY_LOG = 'kiln.log';
