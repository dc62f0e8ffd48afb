/**
 * docs/plugins has a page for every plugin that differs from CoreDNS, and its Corefiles are valid.
 * @module
 */
import assert from 'node:assert/strict'
import { basename, join } from 'node:path'
import { describe, test } from 'vitest'
import { ALL_PLUGINS } from '../../src/resolver/plugins/all-plugins.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { runCli } from '../cli/run-cli.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { EXAMPLE_KEYS } from '../zone-keys.ts'
import { codes, filesBelow, read, tableRows } from './pages.ts'

const PAGES = filesBelow('docs/plugins', '.md')
const HEADINGS = ['## Name', '## Syntax added', '## Examples']
const ZONE = '@ 60 IN SOA ns.example.org. host.example.org. 1 2 3 4 5\n@ 60 IN NS ns.example.org.\n'
/** Files that the examples name. */
const FILES = {
  ...EXAMPLE_KEYS,
  'cert.pem': SERVER.cert,
  'key.pem': SERVER.key,
  'ca.pem': AUTHORITY,
  token: 'secret.token',
  'db.example.org': ZONE,
  'zones/db.example.org': ZONE,
  'cookie-secrets': 'e5e973e5a6b2a43f48e7dc849e37bfcf',
}

function nameOf(page: string): string {
  return basename(page, '.md')
}

describe('docs/plugins', () => {
  test('has a page for each plugin with a difference in docs/plugins.md', () => {
    const rows = tableRows(read('docs/plugins.md'))
    const differing = rows
      .filter(([names = '', difference = '']) => /^`[a-z0-9_]+`/.test(names) && difference !== '–')
      .flatMap(([names = '']) => codes(names))
      .filter((name) => ALL_PLUGINS.has(name))
    assert.ok(differing.length >= 10)
    const pages = new Set(PAGES.map(nameOf))
    assert.deepEqual(
      differing.filter((name) => !pages.has(name)),
      [],
    )
  })

  for (const page of PAGES) {
    const text = read(page)
    test(`${page} names a plugin and has the parts of a page`, () => {
      assert.ok(ALL_PLUGINS.has(nameOf(page)))
      assert.ok(text.startsWith(`# ${nameOf(page)}\n`))
      for (const heading of HEADINGS) assert.ok(text.includes(`\n${heading}\n`), heading)
      assert.match(text, /\n## What differs from /)
    })

    test(`${page} has examples that kubedoh check accepts`, async (t) => {
      const examples = [...text.matchAll(/```corefile ?(\w*)\n([\s\S]*?)```/g)]
      assert.ok(examples.length > 0)
      for (const [, target = '', corefile = ''] of examples) {
        assert.ok(corefile.includes(nameOf(page)))
        const path = join(temporaryFolder(t, { ...FILES, Corefile: corefile }), 'Corefile')
        const wanted = target === '' ? 'serve' : target
        const { status, stderr } = await runCli(['check', path, '--for', wanted])
        assert.equal(status, 0, `${corefile}${stderr}`)
        assert.doesNotMatch(stderr, /missing or unreadable/)
      }
    })
  }
})
