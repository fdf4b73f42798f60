import type { KindWords } from '../../explain/kind-words.ts';
import { addressWords } from '../vip/words/address-words.ts';

export const words: KindWords = addressWords('ovn-eips');
