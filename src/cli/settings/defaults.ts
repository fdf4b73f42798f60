/** Default folder of the laboratory. */
export const DEFAULT_DIRECTORY = '.kiln';
/** Log file of the laboratory, in its folder beside the kubeconfig. */
export const LABORATORY_LOG = 'kiln.log';
/** Folder of the laboratory's journal, in its folder. */
export const LABORATORY_JOURNAL = 'journal';
