import { WORDS_OF_KINDS } from '../kinds/generated/words.ts';
import type { ResourceName } from '../world/resources.ts';
import type { KindWords } from './kind-words.ts';

const WORDS: Readonly<Partial<Record<ResourceName, KindWords>>> = WORDS_OF_KINDS;
const NONE: KindWords = {};

export function wordsOf(resource: ResourceName): KindWords {
  return WORDS[resource] ?? NONE;
}
