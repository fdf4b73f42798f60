/**
 * The commands and their flags.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { baseProgram } from './base-program.ts';
import { config, CONFIG_FORMATS } from './commands/config.ts';
import { configured, PRECEDENCE } from './settings/configured.ts';
import { addAgent } from './commands/agent.ts';
import { addAudit } from './commands/audit.ts';
import { addBackup } from './commands/backup.ts';
import { addBundle } from './commands/bundle.ts';
import { addCompletion } from './commands/completion.ts';
import { addDelete } from './commands/delete.ts';
import { addDiff } from './commands/diff.ts';
import { addExplain } from './commands/explain.ts';
import { addGc } from './commands/gc.ts';
import { addHistory } from './commands/history.ts';
import { addLab } from './commands/lab.ts';
import { addOvnCentral } from './commands/ovn-central.ts';
import { addMigrate } from './commands/migrate.ts';
import { addNeighbours } from './commands/neighbours.ts';
import { addPlan } from './commands/plan.ts';
import { addPrepareJournal } from './commands/prepare-journal.ts';
import { addRepair } from './commands/repair.ts';
import { addRestore } from './commands/restore.ts';
import { addStatus } from './commands/status.ts';
import { addUndo } from './commands/undo.ts';
import { addUninstall } from './commands/uninstall.ts';
import { addVersion } from './commands/version.ts';
import { addWait } from './commands/wait.ts';
import { COMMANDS_OF_KINDS } from '../kinds/generated/commands.ts';
import type { KindCommands } from './kind-commands.ts';
import { print } from './output/terminal.ts';
import { addStartOptions } from './settings/start-options.ts';
import { explainUsageErrors } from './errors/usage-error.ts';

export const program = baseProgram();

const startCommand = program
  .command('start')
  .description('start a laboratory with a demo, or run the controller on a cluster')
  .addHelpText(
    'after',
    '\nExamples:\n  kiln start                       a laboratory: real OVN, embedded API server, demo\n  kiln start --check               prove the demo and end\n  kiln start --packets             nodes and pods that carry packets (root, Linux): kiln lab exec\n  kiln start --kubeconfig ~/.kube/config --ovn-nb tcp:10.0.0.1:6641,tcp:10.0.0.2:6641\n',
  )
  .option(
    '--check',
    'apply the demo and a tenant with an external network, prove connectivity, isolation and translation, delete it, prove that nothing is left; exit 0 or 1',
  )
  .addHelpText('after', `\n${PRECEDENCE}\n`)
  .action(async (_: unknown, command: Command) => {
    // Only this command needs the laboratory, the controller and the webhook, so they are loaded here.
    const { start } = await import('./commands/start.ts');
    process.exitCode = await configured(command, (flags) => start(flags));
  });

addStartOptions(startCommand);

addStartOptions(
  program
    .command('config')
    .description('print every setting, its value and its source')
    .addHelpText('after', '\nExamples:\n  kiln config --config kiln.yaml\n  kiln config -o yaml > kiln.yaml     a file to start from\n')
    .addHelpText('after', `\n${PRECEDENCE}\n`)
    .addOption(new Option('-o, --output <format>', 'output format').choices(CONFIG_FORMATS).default('table')),
).action(async (_: unknown, command: Command) => {
  process.exitCode = await configured(command, (flags, settings) => config(flags, settings, print), {
    runsAnyway: true,
  });
});

for (const add of Object.values<KindCommands>(COMMANDS_OF_KINDS)) add(program);
addAgent(program);
addOvnCentral(program);
addPrepareJournal(program);
addExplain(program);
addDelete(program);
addDiff(program);
addAudit(program);
addRepair(program);
addPlan(program);
addMigrate(program);
addStatus(program);
addWait(program);
addGc(program);
addNeighbours(program);
addHistory(program);
addUndo(program);
addBackup(program);
addRestore(program);
addVersion(program);
addUninstall(program);
addBundle(program);
addLab(program);
addCompletion(program);
explainUsageErrors(program);
