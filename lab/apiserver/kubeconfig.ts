/** A kubeconfig for any Kubernetes client. */
import { stringify } from 'yaml';
import type { Credentials } from './tls.ts';

export function kubeconfig(server: string, credentials: Credentials): string {
  const data = (pem: string): string => Buffer.from(pem).toString('base64');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'kiln-lab', cluster: { server, 'certificate-authority-data': data(credentials.authority) } }],
      users: [
        {
          name: 'kiln-lab-admin',
          user: { 'client-certificate-data': data(credentials.admin.certificate), 'client-key-data': data(credentials.admin.key) },
        },
      ],
      contexts: [{ name: 'kiln-lab', context: { cluster: 'kiln-lab', user: 'kiln-lab-admin' } }],
      'current-context': 'kiln-lab',
    },
    { lineWidth: 0 },
  );
}
