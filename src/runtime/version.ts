/** The version of this program: the one of its package. */
export const VERSION = '0.1.0';
