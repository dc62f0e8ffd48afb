/**
 * Each page of docs/sources has a Corefile, objects, and the answers that they give.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { HOST_RESOURCES } from '../../src/corefile/cluster-tree.ts'
import { serve } from '../ask.ts'
import { read, sourcePages } from './pages.ts'

const PAGES = sourcePages()

describe('docs/sources', () => {
  test('has a page about each kind', () => {
    const text = PAGES.map(({ page }) => read(page)).join('\n')
    const missing = HOST_RESOURCES.filter((kind) => !new RegExp(`\\b${kind}s?\\b`).test(text))
    assert.deepEqual(missing, [], 'write a page of docs/sources for each of these')
  })

  for (const { page, corefile, objects, keys, answers } of PAGES) {
    test(`${page} has an example that gives its answers`, async () => {
      const server = serve(corefile, { cluster: { objects }, keys })
      for (const { line, client } of answers) {
        const [name = '', , , type = ''] = line.split(' ')
        const from = client === '' ? '' : ` +from=${client}`
        const [head = '', ...records] = await server.ask(`${name.slice(0, -1)} ${type}${from}`)
        assert.match(head, /^NOERROR aa/, line)
        const answer = records.filter((record) => !record.startsWith('additional: '))
        assert.deepEqual(answer, [line])
      }
    })
  }
})
