/** The used part of the library's KubeConfig; its own types import a thousand generated files. `tsconfig.json` puts it in their place. */
import type { RequestOptions } from 'node:https';

export class KubeConfig {
  loadFromFile(path: string): void;
  loadFromDefault(): void;
  loadFromCluster(): void;
  setCurrentContext(name: string): void;
  getCurrentContext(): string;
  getContextObject(name: string): { readonly namespace?: string } | null;
  getCurrentCluster(): { readonly server: string; readonly proxyUrl?: string } | null;
  getCurrentUser(): { readonly token?: string; readonly password?: string; readonly exec?: { readonly command?: string } } | null;
  getUsers(): { readonly name: string; token?: string; authProvider?: unknown }[];
  applyToHTTPSOptions(options: RequestOptions): Promise<void>;
}
