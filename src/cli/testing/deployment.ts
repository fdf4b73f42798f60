import type { Workload } from '../deletion/workload-owner.ts';

/** A workload with pods that can be scaled. */
export const DEPLOYMENT: Workload = {
  resource: { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true },
  namespace: 'shop',
  name: 'web',
  uid: 'u',
  scales: true,
};
