import assert from 'node:assert/strict'
import { test } from 'vitest'
import type { Line, ServerBlock } from '../../src/corefile/server-block.ts'
import { outlineKey, parse } from './source.ts'

const TEXT = `# A server block and all that can be in it.
example.org:53 {
  forward . 192.0.2.1 {
    policy sequential
    tls {
      name "ns 1"
    }
  }
  cache
}
`

test('a server block has its words and their positions', () => {
  const [block]: (ServerBlock | undefined)[] = parse(TEXT)
  assert.ok(block)
  const at = (line: number, column: number) => ({ file: '/etc/Corefile', line, column })
  const word = (text: string, line: number, column: number) => ({ ...at(line, column), text })
  const tls: Line = {
    words: [word('tls', 5, 5)],
    lines: [{ words: [word('name', 6, 7), word('ns 1', 6, 12)], lines: [] }],
  }
  const { keys, directives, ...place } = block
  assert.deepEqual(place, at(2, 1))
  assert.deepEqual(keys.map(outlineKey), ['example.org.:53'])
  assert.deepEqual(directives, [
    {
      ...at(3, 3),
      name: 'forward',
      args: [word('.', 3, 11), word('192.0.2.1', 3, 13)],
      lines: [{ words: [word('policy', 4, 5), word('sequential', 4, 12)], lines: [] }, tls],
    },
    { ...at(9, 3), name: 'cache', args: [], lines: [] },
  ])
})
