/** The namespace that is as old as its cluster: its UID tells one cluster from another. */
export const CLUSTER_NAMESPACE = {
  resource: { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false },
  name: 'kube-system',
} as const;
