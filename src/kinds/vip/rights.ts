import { addressRights } from './rights/address-rights.ts';

export const rights = addressRights('vips', ['v4ip', 'v6ip', 'macAddress'], ['status']);
