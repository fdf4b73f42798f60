/** The node as far as it matters for probes: who kubelet is, and whom the node itself talks to. */
import type { KubeletMark } from '../world/probe.ts';
import { hostPeers } from './host-peers.ts';
import { findKubelet, markOf, type ProcessesOptions } from './kubelet-process.ts';

export interface ProbeHost {
  kubelet(): Promise<KubeletMark>;
  /** By address, what each is as words. @param registries as in the names of images */
  peers(registries: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

export function probeHost(options: ProcessesOptions): ProbeHost {
  return {
    kubelet: async () => await markOf(await findKubelet(options), options),
    async peers(registries) {
      const found = await findKubelet(options);
      // Without one nobody is led; the agent's own files are those of most nodes.
      const of = found === undefined ? { command: [], root: '' } : { command: found.command, root: `${options.proc}/${found.pid}/root` };
      return await hostPeers({ ...of, registries });
    },
  };
}
