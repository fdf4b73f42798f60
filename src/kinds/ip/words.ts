import type { KindWords } from '../../explain/kind-words.ts';
import { addressReadiness } from '../../explain/kind-words.ts';
import { heldTexts } from '../../world/claimants.ts';

export const words: KindWords = {
  counted: ['address', 'addresses'],
  readiness: ({ spec }) => addressReadiness(spec),
  addresses: (world, name) => {
    const ip = world.ips.peek(name);
    return ip === undefined ? [] : heldTexts(ip);
  },
};
