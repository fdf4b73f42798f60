/** The manifest by which Krew, the manager of kubectl's plugins, installs `kubectl kiln`. */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { VERSION } from '../../src/runtime/version.ts';

export interface KrewRelease {
  /** Of `npm pack`. */
  readonly archive: Uint8Array;
  /** From where Krew fetches the archive. */
  readonly uri: string;
}

/**
 * YAML of a Plugin: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/. The archive has no Node: the plugin runs with the one of
 * the host, and reports if it is too old.
 */
export function krewManifest({ archive, uri }: KrewRelease): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'kiln' },
    spec: {
      version: `v${VERSION}`,
      // Krew's index allows 50 characters.
      shortDescription: 'Audit and explain Kube-OVN networks',
      description:
        'Reads Kubernetes and OVN, and reports what differs from what should exist: leaked addresses, waiting finalizers, orphan and missing rows, pods on the wrong Subnet. Explains objects, and plans changes.\n',
      caveats: 'Needs Node.js 24 or newer on the PATH.\n',
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
          uri,
          sha256: createHash('sha256').update(archive).digest('hex'),
          files: [{ from: 'package/*', to: '.' }],
          bin: 'bin/kiln.js',
        },
      ],
    },
  });
}
