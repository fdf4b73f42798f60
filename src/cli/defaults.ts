/** The laboratory's folder where none is given. */
export const DEFAULT_DIRECTORY = '.kiln';
/** Where metrics and probes are served where nothing is said: to this machine alone. */
export const DEFAULT_BIND = '127.0.0.1:10670';
