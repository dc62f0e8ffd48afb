import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { CliCommand } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { FLAGS, type FlagName } from '../../src/cli/flags/flags.ts'
import { runCli } from './run-cli.ts'

/** Prints a command's help as it is, and with its lines joined. */
async function helpOf({ name }: CliCommand): Promise<{ text: string; joined: string }> {
  const { status, stdout, stderr } = await runCli([...name.split(' '), '--help'])
  assert.deepEqual([status, stderr], [0, ''])
  return { text: stdout, joined: stdout.replaceAll(/\s+/g, ' ') }
}

/** Reads an example as a shell would, and its flags as the command line does. */
function parseExample(line: string): { command: CliCommand; args: string[]; flags: string[] } {
  const [program, ...words] = line.replace(/ (?:[|>]|-- ).*$/, '').split(' ')
  assert.equal(program, 'kubedoh')
  const command = COMMANDS.find(({ name }) => `${words.join(' ')} `.startsWith(`${name} `))
  assert.ok(command, `"${line}" begins with a command`)
  const [args, flags]: [string[], string[]] = [[], []]
  const rest = words.slice(command.name.split(' ').length)[Symbol.iterator]()
  for (const word of rest) {
    // What follows are another program's flags.
    if (word === '--') break
    const flag = command.flags?.find((name) => word === `--${name}`)
    if (flag === undefined) {
      assert.doesNotMatch(word, /^-/, `"${word}" is a flag of ${command.name}`)
      args.push(word)
    } else {
      flags.push(flag)
      if (FLAGS[flag].value !== undefined) assert.equal(rest.next().done, false)
    }
  }
  return { command, args, flags }
}

describe('the help of a command', () => {
  for (const command of COMMANDS) {
    const { name, summary, args = [], flags = [], required = [], examples } = command

    test(`shows its summary and arguments: ${name}`, async () => {
      const { text, joined } = await helpOf(command)
      assert.ok(joined.includes(summary))
      const [usage = ''] = text.split('\n')
      for (const arg of args) assert.ok(usage.includes(arg), `${arg} stands in: ${usage}`)
    })

    test(`lists each flag with value, default and variable: ${name}`, async () => {
      const { text: page, joined } = await helpOf(command)
      const options = page.slice(page.indexOf('Options:'), page.indexOf('Examples:'))
      assert.deepEqual(
        [...options.matchAll(/^ {2}(?:-\w, )?--([\w.-]+)/gm)].map(([, flag]) => flag),
        [...flags, 'help'],
      )
      const named = joined.slice(joined.indexOf('Options:'), joined.indexOf('Examples:'))
      for (const flag of flags) {
        const { value, help, default: text, env } = FLAGS[flag]
        assert.ok(named.includes(`--${flag}${value === undefined ? '' : ` <${value}>`} ${help}`))
        if (text !== undefined) assert.ok(named.includes(`default ${text}`))
        if (env !== undefined) assert.ok(named.includes(`${env})`))
      }
    })

    test(`shows examples that parse: ${name}`, async () => {
      const { text } = await helpOf(command)
      const lines = examples.filter((line) => line.startsWith('kubedoh '))
      assert.notEqual(lines.length, 0)
      for (const line of lines) {
        assert.ok(text.includes(`  ${line}\n`))
        const parsed = parseExample(line)
        assert.equal(parsed.command, command)
        const needed = args.filter((arg) => !arg.startsWith('['))
        const most = args.at(-1)?.endsWith('...') ? Infinity : args.length
        assert.ok(needed.length <= parsed.args.length && parsed.args.length <= most)
        for (const flag of required) assert.ok(parsed.flags.includes(flag), `${line}: --${flag}`)
      }
    })

    test(`requires only flags that it has and that have values: ${name}`, () => {
      for (const flag of required) {
        assert.ok(flags.includes(flag))
        assert.notEqual(FLAGS[flag].value, undefined)
      }
    })
  }
})

describe('the commands', () => {
  test('have distinct names', () => {
    assert.equal(new Set(COMMANDS.map(({ name }) => name)).size, COMMANDS.length)
  })

  test('use every flag', () => {
    const used = new Set<FlagName>(COMMANDS.flatMap(({ flags = [] }) => flags))
    assert.deepEqual([...used].sort(), Object.keys(FLAGS).sort())
  })
})
