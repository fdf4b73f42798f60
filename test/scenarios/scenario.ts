/** What a scenario is: a name that describes what an operator sees, and the steps. */
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';

export interface Scenario {
  readonly name: string;
  /** Default: every API server. */
  readonly only?: 'lab' | 'real';
  /** It kills processes, counts writes, or edits shared objects: nothing else runs meanwhile. */
  readonly alone?: true;
  /** The first minor version of kube-apiserver that can run it: 31 for v1.31. It is no test of older ones. Default: every version. */
  readonly apiServerSince?: number;
  /** Why it is skipped here: reference data beside the checkout is absent. Undefined if it can run. */
  readonly unless?: () => string | undefined;
  readonly run: (cluster: ScenarioCluster) => Promise<void>;
}

/**
 * The scenarios that an API server can run.
 * @param minor version of a real kube-apiserver: 20 for v1.20. The laboratory's has none
 */
export function scenariosOn(api: 'lab' | 'real', minor: number | undefined, scenarios: readonly Scenario[]): readonly Scenario[] {
  return scenarios.filter(({ only = api, apiServerSince = 0 }) => only === api && (minor === undefined || minor >= apiServerSince));
}
