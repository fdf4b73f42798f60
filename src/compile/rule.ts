/** A rule of the controller: over its World, with its outputs. */
import type { Rule as AnyRule } from '../engine/compiler.ts';
import type { World } from '../world/world.ts';
import type { Output } from './output.ts';

export type Rule = AnyRule<World, Output>;
