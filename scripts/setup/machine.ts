import { setUpCluster } from './cluster-programs.ts';
import { deleteGoBuildCache } from './go-build-cache.ts';
import { setUpHelm } from './helm.ts';
import { setUpKubectl, setUpKubernetes, setUpOldestKubernetes } from './kubernetes.ts';
import { setUpOvn, setUpUnpackedOvn } from './ovn.ts';
import { setUpNewerNft, setUpPackets } from './packets.ts';
import { SetupError } from './report.ts';

/** Sets the machine up for a target, `build`, `start`, `cluster`, `test` or `test:long`, and returns the exit code. */
export async function setUp(target: string | undefined): Promise<number> {
  try {
    // Node and its packages suffice.
    if (target === 'build') return 0;
    if (target !== 'start' && target !== 'test' && target !== 'test:long' && target !== 'cluster') {
      throw new SetupError('say what to set up for: node scripts/setup.mjs build, start, cluster, test or test:long');
    }
    await setUpOvn();
    if (target === 'cluster') {
      await setUpCluster();
      return 0;
    }
    if (target !== 'start') await setUpTests([setUpKubectl, setUpKubernetes, setUpHelm, setUpUnpackedOvn, setUpPackets, setUpNewerNft]);
    if (target === 'test:long') await setUpTests([setUpOldestKubernetes, setUpCluster]);
    return 0;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`[setup] ${error.message}\n`);
    return 1;
  } finally {
    deleteGoBuildCache();
  }
}

/** What only tests need. If the machine cannot have it, a line says so; the tests that need it are then skipped, with the reason. */
async function setUpTests(steps: readonly (() => Promise<void>)[]): Promise<void> {
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof SetupError) || process.env['CI'] === 'true') throw error;
      process.stderr.write(`[setup] ${error.message}\n[setup] going on without: the tests that need it are skipped\n`);
    }
  }
}
