/**
 * What the documents say is so: the tables are those of the code, and the pages are short.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { COMMANDS, PURPOSES } from '../src/cli/commands.ts'
import { FLAGS, type Flag } from '../src/cli/flags/flags.ts'
import { FORMER_FLAGS } from '../src/cli/flags/former-flags.ts'
import { isOf } from '../src/cli/flags/variables.ts'
import { LEFT_OUT, type LeftOut } from '../src/resolver/chain/left-out.ts'
import { ALL_PLUGINS } from '../src/resolver/plugins/all-plugins.ts'
import { codes, section, tableRows } from './docs/pages.ts'
import { MAY_IMPORT } from './tidy.ts'

const ROOT = join(import.meta.dirname, '..')

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

function flagRow([name, flag]: readonly [string, Flag]): string {
  const users = COMMANDS.filter(({ flags = [] }) => flags.some((used) => used === name))
  const value = flag.value === undefined ? '' : ` ${flag.value}`
  const notes = [
    ...(flag.default === undefined ? [] : [`default \`${flag.default}\``]),
    ...(flag.env === undefined ? [] : [`\`${flag.env}\``]),
  ]
  const help = flag.help.replaceAll('|', '\\|')
  const meaning = notes.length === 0 ? help : `${help} (${notes.join(', ')})`
  return `| \`--${name}${value}\` | ${users.map((one) => `\`${one.name}\``).join(', ')} | ${meaning} |`
}

function leftOutRow({ plugins, reason, instead }: LeftOut): string {
  return `| ${plugins.map((name) => `\`${name}\``).join(' ')} | ${reason}; ${instead} |`
}

describe('README.md', () => {
  const text = read('README.md')

  it('has a row for each flag on a page of its own, as the code has it', () => {
    const [page = ''] = read('docs/flags.md').split('\n## Former flags\n')
    const rows = page.split('\n').filter((line) => line.startsWith('| `--'))
    deepEqual(rows, Object.entries(FLAGS).map(flagRow))
  })

  it('has a row for each former flag there', () => {
    const rows = FORMER_FLAGS.map(({ name, value = '', takenBy, successor }) => [
      `\`${`--${name} ${value}`.trim()}\``,
      takenBy.map((one) => `\`${one.replace(/^token$/, 'token …')}\``).join(', '),
      successor.startsWith('the ') ? successor : `\`${successor}\``,
    ])
    deepEqual(tableRows(section(read('docs/flags.md'), '## Former flags')), rows)
  })

  it('has a page with the commands by purpose, as help lists them', () => {
    const page = read('docs/commands.md')
    const onPage = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) => {
      const named = tableRows(section(page, `## ${title}`)).flatMap(([cell = '']) =>
        codes(cell).flatMap((code) => COMMANDS.find(({ name }) => isOf(code, [name]))?.name ?? []),
      )
      return [title, [...new Set(named)]]
    })
    const inHelp = PURPOSES.map(({ title, commands }) => [title, commands.map(({ name }) => name)])
    deepEqual(onPage, inHelp)
  })

  it('has a page that names exactly the plugins that there are', () => {
    const page = read('docs/plugins.md')
    const table = page.slice(0, page.indexOf('| left out |'))
    const rows = table.split('\n').filter((line) => line.startsWith('| `'))
    const named = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    )
    deepEqual(named.sort(), [...ALL_PLUGINS.keys()].sort())
  })

  it('needs the versions of Node that package.json and the launcher need', () => {
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } }
    deepEqual(engines, { node: '^22.19 || >=24.5' })
    ok(text.includes('needs Node 22.19, 24.5 or newer'))
    ok(read('bin/kubedoh').includes("needs='Node 22.19, 24.5 or newer'"))
  })

  it('has a page with a row for each group of plugins that is left out', () => {
    const page = read('docs/plugins.md')
    const table = page.slice(page.indexOf('| left out |'))
    const rows = table.split('\n').filter((line) => line.startsWith('| `'))
    deepEqual(rows, LEFT_OUT.map(leftOutRow))
  })

  it('can be pasted', () => {
    ok(text.includes('npm ci && npm start'))
    ok(text.includes('npm ci && npm test'))
  })
})

describe('ARCHITECTURE.md', () => {
  it('names each folder of the import table', () => {
    const text = read('ARCHITECTURE.md')
    for (const folder of Object.keys(MAY_IMPORT)) ok(text.includes(`\`${folder}\``), folder)
  })
})

describe('all pages', () => {
  it('README.md has 110 lines and 1,000 words at most, ARCHITECTURE.md 160 lines', () => {
    const linesOf = (page: string): number => read(page).trimEnd().split('\n').length
    ok(linesOf('README.md') <= 110)
    ok(read('README.md').split(/\s+/).length <= 1000)
    ok(linesOf('ARCHITECTURE.md') <= 160)
  })
})
