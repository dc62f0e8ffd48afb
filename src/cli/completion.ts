/**
 * `kubedoh completion`: completion scripts for shells, made from the table of commands. A script
 * holds all names, so pressing Tab starts no program.
 * @module
 */

import { type Output, UsageError } from '../server/node/output.ts'
import type { CliCommand, CommandList } from './command.ts'
import { FLAGS, type FlagName, type Input } from './flags/flags.ts'

/** Placeholders of values that are paths. */
const PATHS: ReadonlySet<string> = new Set(['COREFILE', 'FILE', 'FOLDER', 'PATH'])

/** A word of the command line to choose from. */
type Choice = { readonly name: string; readonly help: string }

/** Prints the completion script of a shell. */
export function runCompletion(
  list: CommandList,
  { args: [shell = ''] }: Input,
  output: Output,
): void {
  const format = SHELLS.get(shell)
  if (format === undefined) {
    throw new UsageError(`"${shell}" is not one of ${[...SHELLS.keys()].join(', ')}`)
  }
  output.stdout.write(`${format(list).join('\n')}\n`)
}

const SHELLS: ReadonlyMap<string, (list: CommandList) => readonly string[]> = new Map([
  ['bash', bashLines],
  ['zsh', zshLines],
  ['fish', fishLines],
])

/** Completes file names where there are no words: after flags with a value, and as arguments. */
function bashLines(list: CommandList): string[] {
  const groups = [...groupChoices(list)].map(
    ([group, choices]) =>
      `    2,${group}' '*) words=${quote(choices.map(({ name }) => name).join(' '))} ;;`,
  )
  const commands = list.commands.map(({ name, flags = [] }) => {
    const words = [...flags, 'help'].map((flag) => `--${flag}`).join(' ')
    return `    *,${quote(`${name} `)}*) words=${quote(words)} ;;`
  })
  const secondAfter = [...groupChoices(list).keys()].join('|')
  const first = firstChoices(list).map(({ name }) => name)
  return [
    '# bash completion of kubedoh, for: source <(kubedoh completion bash)',
    '_kubedoh() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} words=`,
    '  COMPREPLY=()',
    `  case "$COMP_CWORD,\${COMP_WORDS[1]-} \${COMP_WORDS[2]-} " in`,
    `    1,*) words=${quote(first.join(' '))} ;;`,
    ...groups,
    ...commands,
    '  esac',
    `  case "$prev" in ${flagsWithValues().join('|')}) words= ;; esac`,
    '  case "$COMP_CWORD,$cur" in',
    '    1,*|*,-*) ;;',
    `    2,*) case "\${COMP_WORDS[1]}" in ${secondAfter}) ;; *) words= ;; esac ;;`,
    '    *) words= ;;',
    '  esac',
    '  [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -o bashdefault -o default -F _kubedoh kubedoh',
  ]
}

function zshLines(list: CommandList): string[] {
  const describe = (choices: readonly Choice[]): string =>
    choices.map(({ name, help }) => quote(`${name}:${help}`)).join(' ')
  const groups = [...groupChoices(list)].map(
    ([group, choices]) => `      ${group}) names=(${describe(choices)}) ;;`,
  )
  const commands = list.commands.map(({ name, flags = [] }) => {
    const specs = [...flags.map(zshSpec), quote('--help[print this help]'), quote('*:file:_files')]
    return `    ${quote(`${name} `)}*) _arguments ${specs.join(' ')} ;;`
  })
  return [
    '#compdef kubedoh',
    '# zsh completion of kubedoh, for: source <(kubedoh completion zsh)',
    '_kubedoh() {',
    '  local -a names',
    '  case $CURRENT in',
    `    2) names=(${describe(firstChoices(list))}) ;;`,
    '    3) case $words[2] in',
    ...groups,
    '    esac ;;',
    '  esac',
    '  if (( $#names )); then _describe command names; return; fi',
    '  case "$words[2] $words[3] " in',
    ...commands,
    '  esac',
    '}',
    'if [ "$funcstack[1]" = _kubedoh ]; then _kubedoh "$@"; else compdef _kubedoh kubedoh; fi',
  ]
}

function zshSpec(name: FlagName): string {
  const { help, value, isRepeated } = FLAGS[name]
  const text = help.replace(/[\\[\]:]/g, '\\$&')
  const action = value === undefined ? '' : `:${value}:${PATHS.has(value) ? '_files' : ''}`
  return quote(`${isRepeated ? '*' : ''}--${name}[${text}]${action.replaceAll('HOST:', 'HOST\\:')}`)
}

function fishLines(list: CommandList): string[] {
  const add = (condition: string, ...rest: readonly string[]): string =>
    `complete -c kubedoh -n ${quote(condition)} ${rest.join(' ')}`
  const first = firstChoices(list).map(({ name, help }) =>
    add('__fish_use_subcommand', '-f', '-a', name, '-d', fishQuote(help)),
  )
  const groups = [...groupChoices(list)].flatMap(([group, choices]) => {
    const names = choices.map(({ name }) => name).join(' ')
    const condition = `${seen(group)}; and not ${seen(names)}`
    return choices.map(({ name, help }) => add(condition, '-f', '-a', name, '-d', fishQuote(help)))
  })
  const flags = list.commands.flatMap((command) =>
    (command.flags ?? []).map((name) => {
      const { help, value } = FLAGS[name]
      const takes = value === undefined ? '' : PATHS.has(value) ? ' -r' : ' -x'
      const condition = command.name.split(' ').map(seen).join('; and ')
      return add(condition, `-l ${name}${takes}`, '-d', fishQuote(help))
    }),
  )
  const title = '# fish completion of kubedoh, for: kubedoh completion fish | source'
  return [title, ...first, ...groups, ...flags]
}

function seen(words: string): string {
  return `__fish_seen_subcommand_from ${words}`
}

/** Commands of one word, and groups. */
function firstChoices({ commands, groups }: CommandList): Choice[] {
  const single = commands.filter(({ name }) => !name.includes(' '))
  return [
    ...single.map(({ name, summary }) => ({ name, help: summary })),
    ...Object.entries(groups).map(([name, help]) => ({ name, help })),
  ]
}

/** The second words of commands, by the first. */
function groupChoices({ commands }: CommandList): ReadonlyMap<string, readonly Choice[]> {
  const byGroup = Map.groupBy(
    commands.filter(({ name }) => name.includes(' ')),
    ({ name }) => name.split(' ')[0] ?? '',
  )
  const choiceOf = ({ name, summary }: CliCommand): Choice => ({
    name: name.split(' ')[1] ?? '',
    help: summary,
  })
  return new Map([...byGroup].map(([group, members]) => [group, members.map(choiceOf)]))
}

function flagsWithValues(): string[] {
  return Object.entries(FLAGS).flatMap(([name, { value }]) =>
    value === undefined ? [] : [`--${name}`],
  )
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function fishQuote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
