/** Kube-OVN's controller as its Deployment describes it: release, image, replicas, flags. Pure. */
import type { KubeObject, Resource } from '../../kube/resource.ts';

export const DEPLOYMENTS: Resource = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true };
/** Name of the Deployment, and of its container. */
export const KUBE_OVN_CONTROLLER = 'kube-ovn-controller';

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

/** The fields of a Deployment that are read here. */
export interface ControllerDeployment extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
      readonly spec?: { readonly containers?: readonly Container[] };
    };
  };
}

export interface KubeOvnController {
  /** `1.12.35`; null if neither image nor labels tell it. */
  readonly version: string | null;
  readonly image: string;
  readonly replicas: number;
  /** `--flag=value`, as written. */
  readonly args: readonly string[];
}

/** Labels that charts put there, by preference. */
const VERSION_LABELS = ['app.kubernetes.io/version', 'version'];

export function kubeOvnControllerOf(deployment: ControllerDeployment): KubeOvnController {
  const { replicas = 1, template } = deployment.spec ?? {};
  const containers = template?.spec?.containers ?? [];
  const container = containers.find(({ name }) => name === KUBE_OVN_CONTROLLER) ?? containers[0] ?? {};
  const { image = '', command = [], args = [] } = container;
  const labels = { ...template?.metadata?.labels, ...deployment.metadata.labels };
  const version = versionIn(tagOf(image)) ?? VERSION_LABELS.map((label) => versionIn(labels[label])).find((one) => one !== undefined);
  return { version: version ?? null, image, replicas, args: flagsIn([...command, ...args]) };
}

/** The tag of an image: behind the last colon, which is not that of the registry's port, and before a digest. */
function tagOf(image: string): string {
  const [named = ''] = image.split('@');
  const last = named.slice(named.lastIndexOf('/') + 1);
  return last.includes(':') ? last.slice(last.indexOf(':') + 1) : '';
}

function versionIn(text: string | undefined): string | undefined {
  return /(?:^|[^\d.])v?(\d+\.\d+\.\d+)(?![\d.])/.exec(text ?? '')?.[1];
}

/** A flag may have one dash or two, and its value behind a space. */
function flagsIn(words: readonly string[]): readonly string[] {
  const flags: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const name = /^--?([a-z][\w-]*)(=.*)?$/s.exec(word);
    if (name === null) continue;
    const next = words[at + 1];
    if (name[2] === undefined && next !== undefined && !next.startsWith('-')) {
      flags.push(`--${name[1]}=${next}`);
      at++;
    } else flags.push(`--${name[1]}${name[2] ?? ''}`);
  }
  return flags;
}
