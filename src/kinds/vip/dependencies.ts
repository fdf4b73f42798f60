import { addressObjectDependencies } from '../subnet/dependencies/address-dependencies.ts';

export const dependencies = addressObjectDependencies('vips');
