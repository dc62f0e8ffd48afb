import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { expandVariables } from '../../src/corefile/environment.ts'
import { sourceOf } from './source.ts'

describe('expandVariables', () => {
  const { environment } = sourceOf({
    variables: { ZONE: 'example.org', PORT: '53', EMPTY: '', MONEY: '$& $1 $$', NEST: '{$PORT}' },
  })
  const cases: { name: string; text: string; expanded: string }[] = [
    { name: 'leaves other text', text: 'a $ZONE {ZONE} %ZONE%', expanded: 'a $ZONE {ZONE} %ZONE%' },
    { name: 'puts {$NAME} in', text: '{$ZONE}', expanded: 'example.org' },
    { name: 'puts {%NAME%} in', text: '{%ZONE%}', expanded: 'example.org' },
    { name: 'puts several in', text: '{$ZONE}:{%PORT%}', expanded: 'example.org:53' },
    { name: 'puts one in twice', text: '{$PORT}{$PORT}', expanded: '5353' },
    { name: 'makes nothing of one that is not set', text: 'a{$NONE}b', expanded: 'ab' },
    { name: 'makes nothing of an empty one', text: 'a{$EMPTY}b', expanded: 'ab' },
    { name: 'takes a value as it is', text: '{$MONEY}', expanded: '$& $1 $$' },
    { name: 'reads a value of {%NAME%} again', text: '{%NEST%}', expanded: '53' },
    { name: 'reads a value of {$NAME} again', text: '{$NEST}', expanded: '53' },
    { name: 'keeps braces without a name', text: '{$} {%%}', expanded: '{$} {%%}' },
    { name: 'keeps what is behind them too', text: '{$} {$PORT}', expanded: '{$} {$PORT}' },
    { name: 'takes any name up to the closing brace', text: 'a{$ %}{$PORT}', expanded: 'a53' },
    { name: 'keeps {$NAME that is not closed', text: '{$ZONE', expanded: '{$ZONE' },
    { name: 'keeps {%NAME} that is not closed', text: '{%ZONE}', expanded: '{%ZONE}' },
    { name: 'tells letter case apart', text: '{$zone}', expanded: '' },
    { name: 'knows no names of its own', text: '{$constructor}', expanded: '' },
  ]
  for (const { name, text, expanded } of cases) {
    test(name, () => {
      assert.equal(expandVariables(text, environment), expanded)
    })
  }

  test('stops at recursive and growing values', () => {
    for (const value of ['{$SELF}', '{$SELF}{$SELF}', 'a{$SELF}']) {
      const expanded = expandVariables('{$SELF}', () => value)
      assert.ok(expanded.length < 4_000_000)
    }
  })

  test('leaves text without opening braces as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('{', '')
        assert.equal(expandVariables(plain, environment), plain)
      }),
    )
  })
})
