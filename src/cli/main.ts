#!/usr/bin/env node
/** The command line. */
import { runProgram } from './run-program.ts';

await runProgram();
