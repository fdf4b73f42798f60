import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority, type Credential } from '../../src/certificates/authority.ts';

/** Files that the API server and its clients share, in one folder that only its owner can read. */
export interface Credentials {
  /** Bearer token of a user in `system:masters`. */
  readonly adminToken: string;
  readonly tokenFile: string;
  /** Signs service account tokens. */
  readonly serviceAccountKey: string;
  /** The API server writes its own certificate here; clients trust it. */
  readonly certificateFolder: string;
  readonly certificate: string;
  readonly kubeconfig: string;
  /** Authority of the API server's client certificate for webhooks. */
  readonly frontProxyAuthority: string;
  /** An AdmissionConfiguration that names this client certificate. */
  readonly admissionConfiguration: string;
  /** Only of a cluster with nodes. */
  readonly forNodes?: NodeCredentials;
}

/** Files of an API server that nodes reach. Their clients have certificates of its authority. */
export interface NodeCredentials {
  readonly authority: CertificateAuthority;
  /** The authority's certificate: clients and nodes trust it. */
  readonly authorityFile: string;
  readonly serving: CredentialFiles;
  /** By which kubelets know the API server. */
  readonly kubeletClient: CredentialFiles;
}

export interface CredentialFiles {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Writes keys and token into `directory`. The first start of the server adds the certificate and the kubeconfig.
 *
 * @param hosts names and addresses of the API server, if nodes reach it
 */
export async function createCredentials(directory: string, hosts?: readonly string[]): Promise<Credentials> {
  const forNodes = hosts === undefined ? undefined : await writeNodeCredentials(directory, hosts);
  const credentials: Credentials = {
    adminToken: randomBytes(24).toString('hex'),
    tokenFile: join(directory, 'tokens.csv'),
    serviceAccountKey: join(directory, 'service-account.key'),
    certificateFolder: join(directory, 'certificates'),
    certificate: forNodes?.authorityFile ?? join(directory, 'certificates', 'apiserver.crt'),
    kubeconfig: join(directory, 'kubeconfig'),
    frontProxyAuthority: join(directory, 'front-proxy-ca.crt'),
    admissionConfiguration: join(directory, 'admission.yaml'),
    ...(forNodes === undefined ? {} : { forNodes }),
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(credentials.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
  await writeFile(credentials.tokenFile, `${credentials.adminToken},admin,admin,"system:masters"\n`, { mode: 0o600 });
  await writeFrontProxy(directory, credentials);
  return credentials;
}

/** Writes the administrator's kubeconfig after the server has made its certificate. */
export async function writeKubeconfig(credentials: Credentials, server: string): Promise<void> {
  const ca = await readFile(credentials.certificate, 'utf8');
  await writeUserKubeconfig(credentials.kubeconfig, { server, ca, user: { token: credentials.adminToken } });
}

/** Writes the kubeconfig of one user: `user` is its entry, with a token or with a certificate. JSON is YAML. */
export async function writeUserKubeconfig(
  file: string,
  { server, ca, user }: { readonly server: string; readonly ca: string; readonly user: object },
): Promise<void> {
  const name = 'kiln-real-cluster';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  await writeFile(file, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}

/** The entry of a user with a certificate. */
export function certificateUser({ certificate, key }: Credential): object {
  return { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function writeNodeCredentials(directory: string, hosts: readonly string[]): Promise<NodeCredentials> {
  const now = Date.now();
  const authority = new CertificateAuthority('kubernetes-ca', { from: now - CLOCK_SKEW_MS, until: now + LIFETIME_MS });
  const write = async (name: string, { certificate, key }: Credential): Promise<CredentialFiles> => {
    const files = { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
    await writeFile(files.certificate, certificate);
    await writeFile(files.key, key, { mode: 0o600 });
    return files;
  };
  const authorityFile = join(directory, 'ca.crt');
  await writeFile(authorityFile, authority.certificate);
  const serving = await write('serving', authority.issue({ name: { commonName: 'kube-apiserver' }, purpose: 'server', hosts }));
  const client = { organization: 'system:masters', commonName: 'kube-apiserver-kubelet-client' };
  const kubeletClient = await write('kubelet-client', authority.issue({ name: client, purpose: 'client' }));
  return { authority, authorityFile, serving, kubeletClient };
}

const LIFETIME_MS = 30 * 24 * 3_600_000;
const CLOCK_SKEW_MS = 300_000;

/** As docs/operate/ovn.md tells an operator. JSON is YAML. */
async function writeFrontProxy(directory: string, { frontProxyAuthority, admissionConfiguration }: Credentials): Promise<void> {
  const now = Date.now();
  const authority = new CertificateAuthority('front-proxy-ca', { from: now - CLOCK_SKEW_MS, until: now + LIFETIME_MS });
  const client = authority.issue({ name: { commonName: 'front-proxy-client' }, purpose: 'client' });
  const path = (name: string): string => join(directory, name);
  await writeFile(frontProxyAuthority, authority.certificate);
  await writeFile(path('front-proxy-client.crt'), client.certificate);
  await writeFile(path('front-proxy-client.key'), client.key, { mode: 0o600 });
  const user = { 'client-certificate': path('front-proxy-client.crt'), 'client-key': path('front-proxy-client.key') };
  const kubeconfig = { apiVersion: 'v1', kind: 'Config', users: [{ name: '*', user }] };
  await writeFile(path('webhook-clients.kubeconfig'), `${JSON.stringify(kubeconfig, null, 2)}\n`, { mode: 0o600 });
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      {
        name: 'ValidatingAdmissionWebhook',
        configuration: {
          apiVersion: 'apiserver.config.k8s.io/v1',
          kind: 'WebhookAdmissionConfiguration',
          kubeConfigFile: path('webhook-clients.kubeconfig'),
        },
      },
    ],
  };
  await writeFile(admissionConfiguration, `${JSON.stringify(configuration, null, 2)}\n`);
}
