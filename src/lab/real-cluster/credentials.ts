import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that the API server and its clients share, all in one folder that only their owner can read. */
export interface Credentials {
  /** Bearer token of a member of `system:masters`. */
  readonly adminToken: string;
  readonly tokenFile: string;
  /** Signs service account tokens. */
  readonly serviceAccountKey: string;
  /** The API server makes its own certificate here, and it is what clients trust. */
  readonly certificateFolder: string;
  readonly certificate: string;
  readonly kubeconfig: string;
}

/** Writes keys and token into `directory`. The certificate and the kubeconfig come with the server's first start. */
export async function createCredentials(directory: string): Promise<Credentials> {
  const credentials: Credentials = {
    adminToken: randomBytes(24).toString('hex'),
    tokenFile: join(directory, 'tokens.csv'),
    serviceAccountKey: join(directory, 'service-account.key'),
    certificateFolder: join(directory, 'certificates'),
    certificate: join(directory, 'certificates', 'apiserver.crt'),
    kubeconfig: join(directory, 'kubeconfig'),
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(credentials.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  await writeFile(credentials.tokenFile, `${credentials.adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
  return credentials;
}

/** Writes the administrator's kubeconfig, once the server has made its certificate. JSON is YAML. */
export async function writeKubeconfig(credentials: Credentials, server: string): Promise<void> {
  const ca = (await readFile(credentials.certificate)).toString('base64');
  const name = 'kiln-real-cluster';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name, user: { token: credentials.adminToken } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  await writeFile(credentials.kubeconfig, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
