/** The command line as one executable file (`npm run executable`): a program in CommonJS, which cannot wait at its top level. */
import { runProgram } from './run-program.ts';

void runProgram();
