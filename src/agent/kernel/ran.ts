/** The end of a program of the host. */
export type Ran =
  | { readonly ok: true; readonly output: string }
  /** `message` is what it printed on standard error; `output` what it printed before it failed, if it ran. */
  | { readonly ok: false; readonly message: string; readonly output?: string };

/** A program and its arguments: no shell reads them. */
export type Words = readonly [string, ...string[]];
