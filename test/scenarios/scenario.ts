/** What a scenario is: a name that describes what an operator sees, and the steps. */
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';

export interface Scenario {
  readonly name: string;
  /** Default: every API server. */
  readonly only?: 'lab' | 'real';
  /** It kills processes, counts writes, or edits shared objects: nothing else runs meanwhile. */
  readonly alone?: true;
  /** The reason why it cannot run here; undefined if it can. */
  readonly unless?: () => string | undefined;
  readonly run: (cluster: ScenarioCluster) => Promise<void>;
}
