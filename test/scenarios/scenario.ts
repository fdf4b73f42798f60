/** What a scenario is: a name that says what an operator would see, and what happens. */
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';

export interface Scenario {
  readonly name: string;
  /** Left out: every API server. */
  readonly only?: 'lab' | 'real';
  /** It ends processes, counts what is written, or edits what all share: nothing else runs meanwhile. */
  readonly alone?: true;
  /** Why it cannot run here; undefined when it can. */
  readonly unless?: () => string | undefined;
  readonly run: (cluster: ScenarioCluster) => Promise<void>;
}
