/** Why a route of the agent waits, for people. */
export function waitingText(destination: string, device: string): string {
  const family = destination.includes(':') ? ' -6' : '';
  return `the node has a route to ${destination} that is not the agent's, so that network is not reached by ${device}; ip${family} route show ${destination}`;
}
