/** Codes of the specification ("Error" in section 5), and what each means to the runtime. */
export const CODES = {
  /** It configured a version that the plugin does not speak. */
  incompatibleVersion: 1,
  unsupportedField: 2,
  unknownContainer: 3,
  /** A variable of the environment is missing or malformed. */
  invalidEnvironment: 4,
  inputOutput: 5,
  /** Standard input, or the agent's answer, is no JSON. */
  undecodable: 6,
  invalidConfiguration: 7,
  /** It should try again. */
  tryAgainLater: 11,
  /** STATUS: no ADD would succeed now. */
  notAvailable: 50,
} as const;

/** What a runtime shows a person: kubelet writes both texts into an Event of the pod. */
export class CniError extends Error {
  override name = 'CniError';
  readonly code: (typeof CODES)[keyof typeof CODES];
  readonly details: string;

  /**
   * @param message what failed
   * @param details why, and what to do
   */
  constructor(code: keyof typeof CODES, message: string, details = '') {
    super(message);
    this.code = CODES[code];
    this.details = details;
  }
}
