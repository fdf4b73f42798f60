/** Commands of the pages that the test of the pages does not run: why, and the test that does what they do. */

export interface NotRun {
  readonly command: RegExp;
  readonly why: string;
  /** A file of the repository. */
  readonly proof: string;
}

export const NOT_RUN: readonly NotRun[] = [
  { command: /^podman /, why: 'there is no registry of images; images are made by hand', proof: 'test/cluster/manifests.test.ts' },
  {
    command: /^kubectl apply .*-f deploy\//,
    why: 'the API server of the laboratory has not all kinds of the manifests; a real one has',
    proof: 'test/conformance/deploy.test.ts',
  },
  { command: /^sed .*deploy\/controller\.yaml/, why: 'as above', proof: 'test/conformance/deploy.test.ts' },
  {
    command: /^kubectl (-n kube-system (rollout|scale|logs|exec|port-forward|patch deployment)|rollout|get nodes$)/,
    why: 'it needs pods that run in a cluster',
    proof: 'test/cluster/manifests.test.ts',
  },
  { command: /^kubectl delete (-f deploy|validatingwebhookconfiguration)/, why: 'as above', proof: 'test/scenarios/uninstallation.ts' },
  { command: /ovn-nbctl --no-leader-only|ovs-appctl/, why: 'it needs members of OVN', proof: 'test/cluster/ovn-central.test.ts' },
  {
    command: /^kubectl -n kube-system create (configmap|secret)|^for name in/,
    why: 'it makes what the pods of the manifests mount',
    proof: 'test/cluster/manifests.test.ts',
  },
  { command: /^kubectl krew |^npm run --silent krew/, why: 'Krew needs its index', proof: 'test/package/package.test.ts' },
  { command: /^npm (pack|install)|^npx kiln start/, why: 'the package has tests of its own', proof: 'test/package/package.test.ts' },
  { command: /^npm run executable|^cp dist\/kiln/, why: 'so has the executable file', proof: 'test/package/executable.test.ts' },
  { command: /^npm run cluster|^kubectl create deployment web/, why: 'it needs containers', proof: 'test/cluster/cluster.test.ts' },
  { command: /^npm start/, why: 'it is the laboratory itself', proof: 'test/e2e/lab.test.ts' },
  { command: /^export /, why: 'the test sets the variable', proof: 'test/docs/pages.test.ts' },
  {
    command: /^kiln migrate back$/,
    why: 'a controller leads in this laboratory, and the command would refuse',
    proof: 'test/takeover/there-and-back.test.ts',
  },
  { command: /^kiln repair /, why: 'it repairs a finding of one cluster, by its id', proof: 'src/cli/commands/repair.test.ts' },
  { command: /^kiln undo /, why: 'it needs a journal with this deletion', proof: 'test/scenarios/undo.ts' },
  {
    command: /^kubectl apply -f blue\.yaml|^kubectl apply -f wide\.yaml/,
    why: 'the file is the reader’s',
    proof: 'test/scenarios/undo.ts',
  },
  { command: /^kiln (install-cni|agent)/, why: 'it changes the node that it runs on', proof: 'test/packets/pods.test.ts' },
  { command: /^curl /, why: 'the controller of this laboratory serves no metrics', proof: 'src/cli/process/operations.test.ts' },
  { command: /^kiln uninstall$/, why: 'it ends the laboratory', proof: 'test/scenarios/uninstallation.ts' },
  { command: /^kubectl delete vpc shop$/, why: 'its answer needs the webhook', proof: 'src/webhook/review/reviews.test.ts' },
  {
    command: /^kubectl -n shop annotate pod web .*logical_switch/,
    why: 'the annotation belongs into the manifest of a new pod',
    proof: 'src/compile/pod/external-pods.test.ts',
  },
  { command: /^helm |^kubectl .*helm/, why: 'charts have tests of their own', proof: 'test/charts/rendering.test.ts' },
];
