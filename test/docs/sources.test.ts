/**
 * Each page of docs/sources has a Corefile, objects, and the answers that they give.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { serve } from '../ask.ts'

const FOLDER = join(import.meta.dirname, '../../docs/sources')
const PAGES = readdirSync(FOLDER).filter((name) => name !== 'README.md')

/** The blocks of code of a page, by their language. */
function blocksOf(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(FOLDER, page), 'utf8')
  const blocks = text.matchAll(/```(\w*)\n(.*?)```/gs)
  return new Map([...blocks].map(([, language = '', body = '']) => [language, body]))
}

describe('docs/sources', () => {
  test('has a page for each kind of source', () => {
    assert.equal(PAGES.length, 8)
  })

  for (const page of PAGES) {
    test(`${page} has an example that gives its answers`, async () => {
      const blocks = blocksOf(page)
      const objects = blocks.get('yaml') ?? assert.fail('no objects')
      const server = serve(blocks.get('corefile') ?? assert.fail('no Corefile'), {
        cluster: { objects },
      })
      const lines = (blocks.get('') ?? '').trim().split('\n')
      assert.ok(lines.length > 0 && lines[0] !== '')
      for (const line of lines) {
        const [name = '', , , type = ''] = line.split(' ')
        const [head = '', ...records] = await server.ask(`${name.slice(0, -1)} ${type}`)
        assert.match(head, /^NOERROR aa/, line)
        assert.deepEqual(records, [line])
      }
    })
  }
})
