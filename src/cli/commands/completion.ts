/** `kiln completion`: a script for the shell that completes commands, flags and kinds, generated from the commands themselves. */
import type { Command } from 'commander';
import { Argument } from 'commander';
import { TYPED_NAMES } from '../../explain/kind-names.ts';
import { print } from '../output/terminal.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const EXAMPLES = `
Examples:
  source <(kiln completion bash)                                  in this shell
  kiln completion zsh > "\${fpath[1]}/_kiln"
  kiln completion fish > ~/.config/fish/completions/kiln.fish
`;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', EXAMPLES)
    .action((shell: Shell) => print(completionScript(program, shell)));
}

interface Completed {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly string[];
  /** Names of the commands of a group. */
  readonly commands: readonly string[];
  /** Whether its first argument is a kind. */
  readonly takesKind: boolean;
}

export function completionScript(program: Command, shell: Shell): string {
  const commands = program.commands.map((command): Completed => ({
    name: command.name(),
    description: command.description(),
    flags: [command, ...command.commands].flatMap(({ options }) => options.flatMap(({ long }) => long ?? [])),
    commands: command.commands.map((one) => one.name()),
    takesKind: ['kind', 'object'].includes(command.registeredArguments[0]?.name() ?? ''),
  }));
  if (shell === 'fish') return fishScript(commands);
  return shell === 'bash' ? bashScript(commands) : `#compdef kiln\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
}

function bashScript(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ name, flags, commands: inside, takesKind }) =>
      `    ${name}) words="${[...inside, ...flags, ...(takesKind ? TYPED_NAMES : [])].join(' ')}" ;;`,
  );
  return `_kiln() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    *) words="${commands.map(({ name }) => name).join(' ')}" ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(' ')}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _kiln kiln
`;
}

function fishScript(commands: readonly Completed[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`\'`)}'`;
  return `${[
    'complete -c kiln -f',
    ...commands.map(({ name, description }) => `complete -c kiln -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`),
    ...commands.flatMap(({ name, flags }) =>
      flags.map((flag) => `complete -c kiln -n '__fish_seen_subcommand_from ${name}' -l ${flag.replace(/^--/, '')}`),
    ),
    ...commands
      .filter(({ commands: inside }) => inside.length > 0)
      .map(({ name, commands: inside }) => `complete -c kiln -n '__fish_seen_subcommand_from ${name}' -a ${quoted(inside.join(' '))}`),
    ...commands
      .filter(({ takesKind }) => takesKind)
      .map(({ name }) => `complete -c kiln -n '__fish_seen_subcommand_from ${name}' -a ${quoted(TYPED_NAMES.join(' '))}`),
  ].join('\n')}\n`;
}
