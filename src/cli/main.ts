/**
 * Parses the command line with commander, prints help and errors, and returns the exit status.
 * @module
 */

import { CommanderError, Command as CommandLine, Option } from 'commander'
import { VERSION } from '../dns/telemetry/version.ts'
import { describeError, EXIT, type Output, UsageError } from '../server/node/output.ts'
import type { CliCommand } from './command.ts'
import { COMMANDS, GROUPS, PURPOSES } from './commands.ts'
import { FLAGS, type Flag, flagHelp, Input } from './flags/flags.ts'
import {
  FORMER_FLAGS,
  type FormerFlag,
  formerFlagsOf,
  formerFlagWarning,
  type Given,
  withSuccessor,
} from './flags/former-flags.ts'
import { formatOf } from './flags/log-format.ts'
import { variablesOf } from './flags/variables.ts'

/** Commands that replace programs of Go. */
const GO_COMMANDS: ReadonlySet<string> = new Set(['serve', 'node-cache'])
/** Placeholders of their values, by flag. */
const GO_FLAGS: ReadonlyMap<string, string | undefined> = new Map([
  ...FORMER_FLAGS.map(({ name, value }) => [name, value] as const),
  ...Object.entries(FLAGS).map(([name, { value }]) => [name, value] as const),
])

/** Arguments begin with the command, without programs before it. */
const FROM_USER = { from: 'user' } as const

type Environment = Readonly<Record<string, string | undefined>>
type World = { readonly output: Output; readonly environment: Environment }

/** Runs a command line and resolves with the exit status: 0, 1 for a failure, 2 for wrong usage. */
export async function main(
  args: readonly string[],
  output: Output,
  environment: Environment = process.env,
): Promise<number> {
  const program = createProgram(output, environment)
  try {
    await program.parseAsync(withGoFlags(withHelpFlag(args, program)), FROM_USER)
    return EXIT.DONE
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.DONE : EXIT.USAGE
    output.stderr.write(`${describeError(error)}\n`)
    return EXIT.FAILED
  }
}

/** Flags that commander answers before it looks at the words around them. */
const ANSWERED: ReadonlySet<string> = new Set(['-h', '--help', '-v', '--version'])

/**
 * Turns no arguments, `help COMMAND` and `GROUP help COMMAND` into the flag.
 * @throws {CommanderError} for an unknown command, which the flag for help would ignore
 */
function withHelpFlag(args: readonly string[], program: CommandLine): readonly string[] {
  if (args.length === 0) return ['--help']
  // Those after "--" are for other programs.
  const own = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  const words = own.filter((arg) => !arg.startsWith('-'))
  const [first = '', second] = words
  const isGroup = Object.hasOwn(GROUPS, first)
  if (first === 'help' || (isGroup && second === 'help')) {
    const named = words.filter((word) => word !== 'help')
    checkKnown(named.join(' '), program)
    return [...named, '--help']
  }
  if (!own.some((arg) => ANSWERED.has(arg))) return args
  checkKnown(isGroup && second !== undefined ? `${first} ${second}` : first, program)
  return args
}

function checkKnown(command: string, program: CommandLine): void {
  const known = ['', ...Object.keys(GROUPS), ...COMMANDS.map(({ name }) => name)]
  if (known.includes(command)) return
  program.error(`kubedoh: unknown command '${command}'`, { exitCode: EXIT.USAGE })
}

/**
 * Doubles the dash of CoreDNS's flags, such as `-conf` and `-dns.port=53`: Go's flag package
 * accepts one dash or two. A Go flag with the value BOOL is `true` without a value.
 */
function withGoFlags(args: readonly string[]): readonly string[] {
  if (!GO_COMMANDS.has(args[0] ?? '')) return args
  return args.map((arg) => {
    const [, name = '', value] = /^--?([a-z][a-z.-]+)(=.*)?$/s.exec(arg) ?? []
    if (!GO_FLAGS.has(name) && name !== 'version') return arg
    return `--${name}${value ?? (GO_FLAGS.get(name) === 'BOOL' ? '=true' : '')}`
  })
}

function createProgram(output: Output, environment: Environment): CommandLine {
  const program = configure(new CommandLine('kubedoh'), output)
    .showHelpAfterError('Usage: kubedoh COMMAND (see --help)')
    .description('Resolves Kubernetes names inside and outside the cluster.')
    .version(VERSION, '-v, --version', 'print the version')
    .addHelpText('after', '\nFlags and examples of a command: kubedoh COMMAND --help')
  for (const { title, commands } of PURPOSES) {
    program.commandsGroup(`${title}:`)
    for (const command of commands) addToProgram(program, command, { output, environment })
  }
  return program
}

/** Adds a command, and before the first one of a group the group. */
function addToProgram(program: CommandLine, command: CliCommand, world: World): void {
  const [first = '', second] = command.name.split(' ')
  if (second === undefined) {
    addCommand(program.command(first), command, world)
    return
  }
  const group = program.commands.find((one) => one.name() === first)
  addCommand((group ?? addGroup(program, first, world)).command(second), command, world)
}

function addGroup(program: CommandLine, name: string, { output }: World): CommandLine {
  return configure(program.command(name), output)
    .description(GROUPS[name] ?? '')
    .showHelpAfterError(`Usage: kubedoh ${name} COMMAND (see --help)`)
}

/** Configures one level of the command line: kubedoh, a group or a command. */
function configure(line: CommandLine, output: Output): CommandLine {
  return line
    .exitOverride()
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => output.stdout.write(text),
      writeErr: (text) => output.stderr.write(text.replace(/^error: /, 'kubedoh: ')),
    })
}

function addCommand(line: CommandLine, command: CliCommand, { output, environment }: World): void {
  configure(line, output).description(command.summary)
  for (const arg of command.args ?? []) line.argument(arg.startsWith('[') ? arg : `<${arg}>`)
  for (const name of command.flags ?? []) line.addOption(optionOf(name, FLAGS[name]))
  const formers = formerFlagsOf(command.name)
  for (const flag of formers) line.addOption(optionOf(flag.name, flag).hideHelp())
  line.showHelpAfterError(`Usage: kubedoh ${command.name} ${line.usage()} (see --help)`)
  const lines = command.examples.map((example) => `  ${example}`)
  const notes = command.notes ?? []
  const variables = variablesOf(command.name).map(({ name, help }) => `  ${name}  ${help}`)
  const parts = [
    ['', 'Examples:', ...lines],
    ...(notes.length === 0 ? [] : [['', ...notes]]),
    ...(variables.length === 0 ? [] : [['', 'Environment:', ...variables]]),
  ]
  line.addHelpText('after', parts.flat().join('\n'))
  line.action(async () => {
    const flags = flagsOf(line)
    if (command.readsCorefile && !flags.get('conf')?.at(-1)) flags.set('conf', ['Corefile'])
    const used = formers.filter(({ name }) => flags.has(name))
    for (const flag of used) output.stderr.write(formerFlagWarning(flag))
    const instead = used.find(({ successor }) => successor.startsWith('kubedoh '))?.successor
    if (instead !== undefined) {
      await createProgram(output, environment).parseAsync(instead.split(' ').slice(1), FROM_USER)
      return
    }
    const given = used.reduce<Given>(withSuccessor, { args: line.args, flags, environment })
    const input = new Input(given.args, given.flags, given.environment)
    for (const name of command.required ?? []) {
      if (input.text(name) !== '' || input.texts(name).length > 0) continue
      const { env }: Flag = FLAGS[name]
      const other = env === undefined ? '' : `, or ${env}`
      line.error(`kubedoh: --${name} is required${other}`, { exitCode: EXIT.USAGE })
    }
    await run(command, input, output).catch((error: unknown) => {
      if (error instanceof UsageError) {
        line.error(`kubedoh: ${error.message}`, { exitCode: EXIT.USAGE })
      }
      throw error
    })
  })
}

async function run(command: CliCommand, input: Input, output: Output): Promise<void> {
  const isClient = command.flags?.some((name) => name === 'gateway' || name === 'ca')
  const ca = isClient ? input.text('ca') : ''
  if (ca !== '') (await import('./flags/authorities.ts')).trustAuthorities(ca)
  const { stdout, stderr } = output
  const format = command.flags?.includes('log-format') ? formatOf(input) : undefined
  await command.run(input, { stdout, stderr, format })
}

function optionOf(name: string, flag: Flag | FormerFlag): Option {
  const help = 'help' in flag ? flagHelp(flag) : ''
  const names = `${'short' in flag ? `-${flag.short}, ` : ''}--${name}`
  if (flag.value === undefined) return new Option(names, help)
  const option = new Option(`${names} <${flag.value}>`, help)
  if (flag.isRepeated === undefined) return option
  return option.argParser((text: string, before: unknown) => [...listOf(before), text])
}

/** Returns the values of the flags that were given; a boolean one has ''. */
function flagsOf(line: CommandLine): Map<string, readonly string[]> {
  const options: Readonly<Record<string, unknown>> = line.opts()
  return new Map(Object.entries(options).map(([key, value]) => [kebabCase(key), listOf(value)]))
}

/** Undoes commander's renaming of `signing-key` to `signingKey`. */
function kebabCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function listOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? [value] : value === true ? [''] : []
}
