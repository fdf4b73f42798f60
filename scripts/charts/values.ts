/** The values of the chart `kiln`: their defaults, which are those of `deploy`, and the schema that Helm checks them by. */
import { stringify } from 'yaml';
import { DISTRIBUTIONS } from './distributions.ts';
import { settingsSchema } from './settings.ts';

/** What the manifests have, by key of the values. */
export interface Defaults {
  readonly controller: Readonly<Record<string, unknown>>;
  readonly agent: Readonly<Record<string, unknown>>;
  readonly ovs: Readonly<Record<string, unknown>>;
  readonly ovn: Readonly<Record<string, unknown>>;
}

/** Each part is a group of templates. */
const PARTS = ['crds', 'controller', 'webhook', 'policies', 'agent', 'ovn', 'audit'] as const;

export const PARTS_OF_MODES = {
  alone: ['crds', 'controller', 'webhook', 'policies', 'agent', 'ovn'],
  // Its CRDs are Kube-OVN's.
  'beside-kube-ovn': ['controller', 'webhook', 'policies'],
  audit: ['audit'],
} as const satisfies Readonly<Record<string, readonly (typeof PARTS)[number][]>>;

export function valuesYaml({ controller, agent, ovs, ovn }: Defaults): string {
  return `# alone: a cluster without a network. beside-kube-ovn: the controller, which waits while Kube-OVN's leads, and takes over when that ends.
# audit: nothing but a CronJob that reads and reports.
mode: alone

# Where a node has things: ${Object.keys(DISTRIBUTIONS).join(', ')}. auto: k3s and rke2 by the version of the API server, else kubeadm.
distribution: auto

# What is installed: true, false, or auto, which is by mode. policies: from Kubernetes 1.31 on.
parts:
${PARTS.map((name) => `  ${name}: auto\n`).join('')}
images:
  # In front of the names, such as registry.example/kiln/
  registry: ""
  # Empty: the version of the chart.
  tag: ""
  # Empty: Kubernetes' default.
  pullPolicy: ""
  pullSecrets: []

# Settings of the controller, by their keys: docs/reference.md. What is not here is as in deploy/controller.yaml; beside Kube-OVN tenancy is open.
config: {}

${block('controller', { ...controller, extraVolumes: [], extraVolumeMounts: [] }, { journalVolume: 'Where the journal is kept; its size: config.journalSize.' })}
${block('agent', agent, { cniBin: 'Folders of the container runtime: plugins, and their configurations. Empty: those of the distribution.' })}
${block('ovs', ovs)}
# Endpoints of an OVN that runs already (nb: all modes but alone; sb: for parts.agent), such as ssl:10.0.0.1:6641,ssl:10.0.0.2:6641.
# For ssl the keys are in Secret kube-ovn-tls (cacert, cert, key).
${block('ovn', { nb: '', sb: '', ...ovn }, { nodeLabel: 'Nodes with it, whatever its value, run a member: one, three or five. Empty: that of the control plane.' })}
audit:
  schedule: "17 * * * *"
  # Of kiln audit.
  args: []
  # False: in the network of pods, with a NetworkPolicy that lets nobody in. True: also where that network is broken.
  hostNetwork: false
  resources:
    requests:
      cpu: 100m
      memory: 256Mi
    limits:
      memory: 2Gi

metrics:
  # A Secret with key token. With it other hosts can scrape: docs/operate/monitor.md.
  tokenSecret: ""
  # These three need the kinds of the Prometheus operator, or a Grafana that reads ConfigMaps.
  serviceMonitor:
    enabled: false
    interval: 30s
    labels: {}
  prometheusRule:
    enabled: false
    labels: {}
    # In front of docs/troubleshoot.md#...
    runbooks: ""
  dashboards:
    enabled: false
    labels:
      grafana_dashboard: "1"

# For the pod of the audit. All other pods are in the network of their hosts, where a NetworkPolicy has no effect.
networkPolicy:
  enabled: true
`;
}

/** A top-level key with a comment above some of its keys. */
function block(name: string, value: object, comments: Readonly<Record<string, string>> = {}): string {
  const lines = stringify({ [name]: value }, { lineWidth: 0, version: '1.1' }).split('\n');
  return lines
    .flatMap((line) => {
      const comment = comments[/^ {2}(\w+):/.exec(line)?.[1] ?? ''];
      return comment === undefined ? [line] : [`  # ${comment}`, line];
    })
    .join('\n');
}

const STRING = { type: 'string' } as const;
const BOOLEAN = { type: 'boolean' } as const;
const STRINGS = { type: 'object', additionalProperties: STRING } as const;
const OBJECT = { type: 'object' } as const;
const OBJECTS = { type: 'array', items: OBJECT } as const;
const NAME = { type: 'string', pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$' } as const;
const FOLDER = { type: 'string', pattern: '^(/[^:\\s]+)?$' } as const;
const LABEL = { type: 'string', pattern: '^(([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$' } as const;
const ENDPOINTS = { type: 'string', pattern: '^((tcp|ssl|unix):[^,\\s]+(,(tcp|ssl|unix):[^,\\s]+)*)?$' } as const;
const POD = { podAnnotations: STRINGS, tolerations: OBJECTS } as const;

/** No other keys: a mistyped value is told at installation. */
function closed(properties: Readonly<Record<string, object>>): object {
  return { type: 'object', additionalProperties: false, properties };
}

export function valuesSchema(): string {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart kiln',
    ...closed({
      // Helm's own, which a chart has that depends on this one.
      global: OBJECT,
      mode: { type: 'string', enum: Object.keys(PARTS_OF_MODES) },
      distribution: { type: 'string', enum: ['auto', ...Object.keys(DISTRIBUTIONS)] },
      parts: closed(Object.fromEntries(PARTS.map((name) => [name, { enum: ['auto', true, false] }]))),
      images: closed({
        registry: { type: 'string', pattern: '^(\\S+/)?$', description: 'ends with a slash' },
        tag: STRING,
        pullPolicy: { type: 'string', enum: ['', 'Always', 'IfNotPresent', 'Never'] },
        pullSecrets: { type: 'array', items: { type: 'object', required: ['name'], properties: { name: NAME } } },
      }),
      config: settingsSchema(),
      controller: closed({
        ...POD,
        replicas: { type: 'integer', minimum: 0 },
        resources: OBJECT,
        journalVolume: { type: 'object', minProperties: 1, maxProperties: 1 },
        extraVolumes: OBJECTS,
        extraVolumeMounts: OBJECTS,
      }),
      agent: closed({ ...POD, resources: OBJECT, cniBin: FOLDER, cniConf: FOLDER }),
      ovs: closed({ ...POD, resources: { type: 'object', additionalProperties: OBJECT } }),
      ovn: closed({ ...POD, nb: ENDPOINTS, sb: ENDPOINTS, nodeLabel: LABEL, resources: OBJECT }),
      audit: closed({
        schedule: { type: 'string', pattern: '^(@\\w+|(\\S+\\s+){4}\\S+)$' },
        args: { type: 'array', items: STRING },
        hostNetwork: BOOLEAN,
        resources: OBJECT,
      }),
      metrics: closed({
        tokenSecret: NAME,
        serviceMonitor: closed({ enabled: BOOLEAN, interval: { type: 'string', pattern: '^\\d+(s|m|h)$' }, labels: STRINGS }),
        prometheusRule: closed({ enabled: BOOLEAN, labels: STRINGS, runbooks: STRING }),
        dashboards: closed({ enabled: BOOLEAN, labels: STRINGS }),
      }),
      networkPolicy: closed({ enabled: BOOLEAN }),
    }),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
