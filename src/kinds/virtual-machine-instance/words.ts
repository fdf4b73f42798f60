import type { KindWords } from '../../explain/kind-words.ts';
import { machineWords } from '../ip/words/ips-held.ts';

export const words: KindWords = machineWords;
