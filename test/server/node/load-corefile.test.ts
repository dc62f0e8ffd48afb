import assert from 'node:assert/strict'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, test } from 'vitest'
import { formatProblem } from '../../../src/corefile/problem.ts'
import {
  CONFIG_FILES,
  isCurrent,
  loadCorefile,
  loadInSlices,
  tryCorefile,
} from '../../../src/server/node/load-corefile.ts'
import { temporaryFolder } from '../../cluster/follow/temporary-folder.ts'

/** Names of the directives in a Corefile's blocks, with their first arguments. */
function directivesIn(path: string): string[] {
  return loadCorefile(path).blocks.flatMap(({ directives }) =>
    directives.map(({ name, args: [first] }) => (first ? `${name} ${first.text}` : name)),
  )
}

describe('loadCorefile', () => {
  test('returns the text, to detect changes', (t) => {
    const Corefile = '# ü\n. {\n  whoami\n}\n'
    const { text, blocks } = loadCorefile(join(temporaryFolder(t, { Corefile }), 'Corefile'))
    assert.equal(text, Corefile)
    assert.equal(blocks.length, 1)
  })

  test('includes imported files in the text, to detect changes', (t) => {
    const folder = temporaryFolder(t, { Corefile: '. {\n  import more\n}\n', more: 'log\n' })
    const path = join(folder, 'Corefile')
    const { text } = loadCorefile(path)
    assert.equal(loadCorefile(path).text, text)
    writeFileSync(join(folder, 'more'), 'errors\n')
    assert.notEqual(loadCorefile(path).text, text)
  })

  const imports: { name: string; pattern: string; names: readonly string[] }[] = [
    { name: 'a file beside the importing one', pattern: 'a.conf', names: ['a'] },
    { name: 'files by a star, in order of their names', pattern: '*.conf', names: ['B', 'a', 'b'] },
    { name: 'files by a question mark', pattern: 'b?conf', names: ['b'] },
    { name: 'a dot as a dot', pattern: 'x.conf*', names: [] },
    { name: 'files of another folder', pattern: 'more/*', names: ['m'] },
    { name: 'files above', pattern: '../conf/more/m*', names: ['m'] },
    { name: 'files of folders by a star', pattern: '*/m.conf', names: ['m'] },
    { name: 'files of folders by both wildcards', pattern: 'mor?/*.conf', names: ['m'] },
    { name: 'nothing from a missing folder', pattern: 'none/*', names: [] },
  ]
  for (const { name, pattern, names } of imports) {
    test(`imports ${name}`, (t) => {
      const folder = temporaryFolder(t, {
        'conf/Corefile': `. {\n  import ${pattern}\n}\n`,
        'conf/b.conf': 'hosts b\n',
        'conf/a.conf': 'hosts a\n',
        'conf/B.conf': 'hosts B\n',
        'conf/x-conf': 'hosts x\n',
        'conf/a.conf.d/c.conf': 'hosts c\n',
        'conf/more/m.conf': 'hosts m\n',
      })
      const path = relative('.', join(folder, 'conf/Corefile'))
      assert.deepEqual(
        directivesIn(path),
        names.map((word) => `hosts ${word}`),
      )
    })
  }

  test('imports by absolute paths, and from there', (t) => {
    const folder = temporaryFolder(t, { 'far/one': 'import two\n', 'far/two': 'hosts two\n' })
    const near = temporaryFolder(t, { Corefile: `. {\n  import ${folder}/far/one\n}\n` })
    assert.deepEqual(directivesIn(join(near, 'Corefile')), ['hosts two'])
  })

  const cycles: { name: string; files: Record<string, string>; message: RegExp }[] = [
    {
      name: 'by a star',
      files: { Corefile: 'import *\n. {\n}\n' },
      message: /Corefile:1:1: ".*Corefile" imports itself$/,
    },
    {
      name: 'by a relative path',
      files: { Corefile: '. {\n}\nimport ../conf/./Corefile\n' },
      message: /Corefile:3:1: ".*" imports itself$/,
    },
    {
      name: 'by a symbolic link',
      files: { Corefile: 'import link\n' },
      message: /Corefile:1:1: ".*link" imports itself$/,
    },
    {
      name: 'by a hard link',
      files: { Corefile: 'import hard\n' },
      message: /Corefile:1:1: ".*hard" imports itself$/,
    },
    {
      name: 'by a link to its folder',
      files: { Corefile: 'import folder/Coref*\n' },
      message: /Corefile:1:1: ".*folder.Corefile" imports itself$/,
    },
    {
      name: 'by way of another file',
      files: { Corefile: 'import a\n', a: 'import C?refile\n' },
      message: /a:1:1: ".*Corefile" imports itself by way of ".*a"$/,
    },
    {
      name: 'by way of its snippet',
      files: { Corefile: '(s) {\n  import link\n}\n. {\n  import s\n}\n' },
      message: /Corefile:2:3: ".*link" imports itself by way of snippet "s"$/,
    },
  ]
  for (const { name, files, message } of cycles) {
    test(`refuses a file that imports itself ${name}, at once`, (t) => {
      const folder = join(temporaryFolder(t), 'conf')
      mkdirSync(folder)
      for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
      symlinkSync('Corefile', join(folder, 'link'))
      symlinkSync(folder, join(folder, 'folder'))
      linkSync(join(folder, 'Corefile'), join(folder, 'hard'))
      let reads = 0
      const readText = (path: string): string | undefined => {
        reads++
        return CONFIG_FILES.readText(path)
      }
      const source = { ...CONFIG_FILES, readText }
      const { problems } = tryCorefile(join(folder, 'Corefile'), source)
      assert.equal(problems.length, 1)
      assert.match(problems.map(formatProblem).join(), message)
      assert.ok(reads <= 3, `${reads} files were read`)
    })
  }

  test('reports a link to itself as missing', (t) => {
    const folder = temporaryFolder(t, { Corefile: 'import loop\n' })
    symlinkSync('loop', join(folder, 'loop'))
    const { problems } = tryCorefile(join(folder, 'Corefile'))
    assert.match(problems.map(formatProblem).join(), /cannot import ".*loop": no such snippet/)
  })

  test('imports a file twice, and one by two names', (t) => {
    const text = '. {\n  import more\n  import more\n  import link\n}\n'
    const folder = temporaryFolder(t, { Corefile: text, more: 'hosts x\n' })
    symlinkSync('more', join(folder, 'link'))
    assert.equal(directivesIn(join(folder, 'Corefile')).length, 3)
  })

  test('reads on when something is wrong, if that is wanted', (t) => {
    const path = join(temporaryFolder(t, { Corefile: '. {\n  import x\n  log\n}\n' }), 'Corefile')
    const { blocks, problems, warnings } = tryCorefile(path)
    assert.equal(blocks[0]?.directives[0]?.name, 'log')
    assert.equal(problems.length, 1)
    assert.deepEqual(warnings, [])
    assert.throws(() => loadCorefile(path), { name: 'ConfigError' })
  })

  test('puts in variables of the environment', (t) => {
    const name = 'KUBEDOH_TEST_NAME'
    process.env[name] = 'value'
    t.onTestFinished(() => void delete process.env[name])
    const folder = temporaryFolder(t, { Corefile: `. {\n  hosts {$${name}}\n}\n` })
    assert.deepEqual(directivesIn(join(folder, 'Corefile')), ['hosts value'])
  })

  for (const [path, why] of [
    ['none', 'no such file'],
    ['.', 'it is not a file'],
  ] as const) {
    test(`reports a missing file: ${path}`, (t) => {
      const file = join(temporaryFolder(t), path)
      assert.throws(() => loadCorefile(file), {
        name: 'CommandError',
        message: `Cannot read ${file}: ${why}`,
      })
    })
  }
})

describe('loadInSlices', () => {
  const long = `. {\n  acl {\n${'    block net 10.0.0.0/8\n'.repeat(2000)}  }\n}\n`
  for (const [what, Corefile] of [
    ['a long directive', long],
    ['many server blocks', 'x {\n  whoami\n}\n'.repeat(2000)],
    ['comments', '# x\n'.repeat(20_000)],
    ['an imported file', `import long\n`],
    ['words of one line', `. {\n  hosts ${'x '.repeat(20_000)}\n}\n`],
  ] as const) {
    test(`leaves turns for queries: ${what}`, async (t) => {
      const path = join(temporaryFolder(t, { Corefile, long }), 'Corefile')
      let ms = 0
      let turns = 0
      const nextTurn = async (): Promise<void> => void turns++
      await loadInSlices(path, { elapsed: () => ms++, nextTurn }).catch(() => undefined)
      assert.ok(turns >= 5, `only ${turns}`)
    })
  }
})

describe('isCurrent', () => {
  const files = { Corefile: 'import *.conf\n. {\n  import more\n}\n', more: 'log\n', 'a.conf': '' }
  const changes: readonly [string, Record<string, string>][] = [
    ['the Corefile', { Corefile: '. {\n  whoami\n}\n' }],
    ['an imported file', { more: 'errors\n' }],
    ['a new file of a pattern', { 'b.conf': '' }],
  ]
  for (const [what, changed] of changes) {
    test(`is false after a change of ${what}`, (t) => {
      const folder = temporaryFolder(t, files)
      const loaded = loadCorefile(join(folder, 'Corefile'))
      assert.ok(isCurrent(loaded))
      for (const [name, text] of Object.entries(changed)) writeFileSync(join(folder, name), text)
      assert.equal(isCurrent(loaded), false)
    })
  }

  test('is false for a Corefile that is not of files', () => {
    assert.equal(isCurrent(undefined), false)
    assert.equal(isCurrent({ text: '', blocks: [], problems: [], warnings: [] }), false)
  })
})
