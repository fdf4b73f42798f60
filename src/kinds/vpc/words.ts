import type { KindWords } from '../../explain/kind-words.ts';

export const words: KindWords = { counted: ['Vpc', 'Vpcs'] };
