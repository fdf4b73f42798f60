import { addressWords } from './words/address-words.ts';

export const words = addressWords('vips');
