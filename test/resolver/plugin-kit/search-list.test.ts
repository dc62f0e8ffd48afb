import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName } from '../../../src/dns/names/name.ts'
import { parseSearchList } from '../../../src/resolver/plugin-kit/search-list.ts'

describe('parseSearchList', () => {
  const cases: readonly [name: string, text: string, names: readonly string[]][] = [
    ['has nothing without a line for it', 'nameserver 192.0.2.53\noptions ndots:5\n', []],
    ['reads names in lower case', 'search Example.ORG a.test.', ['example.org.', 'a.test.']],
    ['reads one name of a domain', 'domain example.org a.test', ['example.org.']],
    ['goes by the last line', 'search a\ndomain b\nsearch c d', ['c.', 'd.']],
    ['may be emptied', 'search a\nsearch\n', []],
    ['bears with blanks', '  search\ta   b  ', ['a.', 'b.']],
    ['has the root', 'search . a', ['.', 'a.']],
    ['passes over what is no name', 'search a..b c', ['c.']],
    ['passes over comments', '# search a\n;search b', []],
  ]
  for (const [name, text, names] of cases) {
    test(name, () => {
      assert.deepEqual(
        parseSearchList(text).map((one) => formatName(one)),
        names,
      )
    })
  }

  test('has 32 names at most', () => {
    const words = Array.from({ length: 40 }, (_, i) => `n${i}`)
    assert.equal(parseSearchList(`search ${words.join(' ')}`).length, 32)
  })
})
