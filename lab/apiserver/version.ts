/** `/version`: the API level of the laboratory. */
import type { JsonObject } from './json.ts';

export const VERSION: JsonObject = {
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.0-kiln-lab',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'node',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};
