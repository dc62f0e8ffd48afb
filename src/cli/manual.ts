/**
 * `kubedoh man`: the manual page, made from the table of commands.
 * @module
 */

import { VERSION } from '../dns/telemetry/version.ts'
import type { CliCommand } from './command.ts'
import { FLAGS, type FlagName, flagHelp } from './flags/flags.ts'
import { VARIABLES } from './flags/variables.ts'

/** Formats kubedoh(1) as roff, with the macros of man(7). */
export function formatManual(commands: readonly CliCommand[]): string {
  const used = new Set(commands.flatMap(({ flags = [] }) => flags))
  const lines = [
    `.TH KUBEDOH 1 "" "kubedoh ${VERSION}"`,
    '.SH NAME',
    'kubedoh \\- resolve Kubernetes names inside and outside the cluster',
    '.SH SYNOPSIS',
    '.B kubedoh',
    '.I COMMAND',
    '[flags] [arguments]',
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH FLAGS',
    ...[...used].flatMap((name) => entry(optionText(name), flagHelp(FLAGS[name]))),
    '.SH ENVIRONMENT',
    'A flag wins over its variable.',
    ...VARIABLES.flatMap(({ name, help }) => entry(name, help)),
    '.SH EXIT STATUS',
    ...entry('0', 'success'),
    ...entry('1', 'failure'),
    ...entry('2', 'wrong usage'),
  ]
  return `${lines.join('\n')}\n`
}

function commandLines({ name, summary, args = [], flags = [], ...more }: CliCommand): string[] {
  const { examples, notes = [] } = more
  const names = flags.map((flag) => `--${flag}`).join(', ')
  return [
    `.SS ${roff(['kubedoh', name, ...args].join(' '))}`,
    roff(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...notes.map(roff),
    ...(names === '' ? [] : ['.PP', roff(`Flags: ${names}.`)]),
    '.PP',
    '.EX',
    ...examples.map(roff),
    '.EE',
  ]
}

function optionText(name: FlagName): string {
  const { short, value } = FLAGS[name]
  const letter = short === undefined ? '' : `-${short}, `
  return `${letter}--${name}${value === undefined ? '' : ` ${value}`}`
}

function entry(term: string, help: string): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(help)]
}

/** Escapes a line of text: backslashes, dashes to copy, and a first character of a request. */
function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&')
}
