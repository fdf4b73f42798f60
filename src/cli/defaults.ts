/** The laboratory's folder where none is given. */
export const DEFAULT_DIRECTORY = '.kiln';
