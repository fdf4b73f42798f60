import type { KindInvariants } from '../../invariants/kind-invariants.ts';
import { translatedRows } from './invariants/translated-rows.ts';

export const invariants: KindInvariants = translatedRows;
