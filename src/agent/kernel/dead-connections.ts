/**
 * What the kernel still translates for a pod that is gone. A UDP client that goes on sending keeps its entry alive: its datagrams to a hostPort
 * would go to the dead address for ever, past the rules that lead to the next pod. (A connection of TCP ends by itself.)
 */
import type { Programs } from './programs.ts';

/**
 * Ends the entries whose answers come from these addresses: those of the node's own zone, since OVN has the addresses of other Vpcs in zones of
 * its own.
 * @param addresses with or without the length of the prefix
 * @returns the reason if the program is missing or failed; it also ends with 1 where there was no entry
 */
export async function endDeadConnections(programs: Pick<Programs, 'run'>, addresses: readonly string[]): Promise<string | undefined> {
  for (const address of addresses.map((text) => text.replace(/\/.*/, ''))) {
    const ran = await programs.run(['conntrack', '-D', '-w', '0', '-p', 'udp', '-r', address]);
    if (!ran.ok && !/\b0 flow entries have been deleted/.test(ran.message)) return ran.message;
  }
  return undefined;
}
