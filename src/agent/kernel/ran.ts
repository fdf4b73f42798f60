/** The end of a program of the host. */
export type Ran =
  | { readonly ok: true; readonly output: string }
  /** `message` is what it printed on standard error; `output` what it printed before it failed, if it ran. */
  | { readonly ok: false; readonly message: string; readonly output?: string };

/** A program and its arguments: no shell reads them. */
export type Words = readonly [string, ...string[]];

/** The reason of a failure, for a user. @param command as it was run, perhaps within another program */
export function endedBySignal(command: Words, signal: string): string {
  const isNft = command.includes('nft');
  const ended = `${isNft ? 'nft' : command[0]} was ended by ${signal}`;
  // Kube-proxy and others may write them; what the agent writes, every version reads.
  return isNft && signal === 'SIGSEGV'
    ? `${ended}; nft 1.0.6 and older do so beside tables that a newer nft wrote: install nftables 1.1 or newer where the agent runs`
    : ended;
}
