import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'vitest'
import { violations } from './tidy.ts'
import { wordings, wordingsIn } from './wording.ts'

const ROOT = join(import.meta.dirname, '..')

test('the project keeps to its layout', () => {
  assert.deepEqual(violations(ROOT), [])
})

test('our text uses the words of the field', () => {
  assert.deepEqual(wordings(ROOT), [])
  const text = 'The octets of a record set.\nOctets as in RFC 1035.\nconst LIMIT_OCTETS = 1\n'
  assert.deepEqual(wordingsIn('a.ts', text), [
    'a.ts:1: write byte, not "octet"',
    'a.ts:1: write RRset, not "record set"',
    'a.ts:3: write byte, not "OCTET"',
  ])
})

describe('the layout check', () => {
  const head = '/**\n * A file.\n * @module\n */\n'
  const cases: { name: string; file: string; text: string; finds: RegExp }[] = [
    {
      name: 'a forbidden import',
      file: 'src/dns/a.ts',
      text: `${head}import { b } from '../corefile/b.ts'\n`,
      finds: /may not import src\/corefile\/b\.ts/,
    },
    {
      name: 'an import of a higher room',
      file: 'src/dns/bytes/a.ts',
      text: `${head}import { b } from '../wire/b.ts'\n`,
      finds: /may not import src\/dns\/wire\/b\.ts/,
    },
    {
      name: 'a module of Node in a pure room',
      file: 'src/cluster/rules/a.ts',
      text: `${head}import { readFileSync } from 'node:fs'\n`,
      finds: /may not import node:fs/,
    },
    {
      name: 'a package past its door',
      file: 'src/cli/a.ts',
      text: `${head}import { parse } from 'yaml'\n`,
      finds: /may not import yaml/,
    },
    {
      name: 'a clock in pure code',
      file: 'src/dns/a.ts',
      text: `${head}const now = Date.now()\n`,
      finds: /impure/,
    },
    {
      name: 'an export without a docstring',
      file: 'src/dns/a.ts',
      text: `${head}\nexport const a = 1\n`,
      finds: /a docstring/,
    },
    {
      name: 'a file without a head',
      file: 'src/dns/a.ts',
      text: 'const a = 1\n',
      finds: /@module/,
    },
    { name: 'a cast', file: 'src/dns/a.ts', text: `${head}const a = b as string\n`, finds: /cast/ },
    {
      name: 'a long file',
      file: 'src/dns/a.ts',
      text: `${head}${'\n'.repeat(400)}`,
      finds: /40\d lines/,
    },
    {
      name: 'a wing that is not in the table',
      file: 'src/utils/a.ts',
      text: head,
      finds: /not in any wing/,
    },
  ]
  for (const { name, file, text, finds } of cases) {
    test(`finds ${name}`, () => {
      const root = mkdtempSync(join(tmpdir(), 'tidy-'))
      try {
        mkdirSync(join(root, 'worker'))
        mkdirSync(join(root, dirname(file)), { recursive: true })
        writeFileSync(join(root, file), text)
        assert.match(violations(root).join('\n'), finds)
      } finally {
        rmSync(root, { recursive: true })
      }
    })
  }

  test('finds an exported name with two meanings, both used elsewhere', () => {
    const root = mkdtempSync(join(tmpdir(), 'tidy-'))
    const files = {
      'src/dns/wire/a.ts': '\n/** One. */\nexport type Same = 1\n',
      'src/dns/names/b.ts': '\n/** Two. */\nexport const Same = 2\n',
      'src/snapshot/read/c.ts': "import { type Same } from '../../dns/wire/a.ts'\n",
      'src/dns/names/d.ts': "import { Same } from './b.ts'\n",
    }
    try {
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(join(root, dirname(file)), { recursive: true })
        writeFileSync(join(root, file), `${head}${text}`)
      }
      assert.deepEqual(violations(root), [])
      const other = `${head}import { Same as Other } from '../../dns/names/b.ts'\n`
      writeFileSync(join(root, 'src/snapshot/read/e.ts'), other)
      assert.match(violations(root).join('\n'), /b\.ts.*: export Same, so it has two meanings/)
    } finally {
      rmSync(root, { recursive: true })
    }
  })

  test('finds a folder with too many files', () => {
    const root = mkdtempSync(join(tmpdir(), 'tidy-'))
    try {
      mkdirSync(join(root, 'worker'))
      mkdirSync(join(root, 'src/dns/wire'), { recursive: true })
      for (let i = 0; i < 26; i++) writeFileSync(join(root, `src/dns/wire/${i}.ts`), head)
      assert.deepEqual(violations(root), ['src/dns/wire: 26 files, at most 25 are allowed'])
    } finally {
      rmSync(root, { recursive: true })
    }
  })
})
