/** The part `commands` of the record of a kind: commands of `kiln` about its objects. */
import type { Command } from 'commander';

export type KindCommands = (program: Command) => void;
