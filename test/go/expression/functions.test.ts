import { describe } from 'vitest'
import { testOutcomes } from './evaluate.ts'

describe('functions of text', () => {
  testOutcomes([
    ["upper('aBc')", 'ABC'],
    ["lower('aBc')", 'abc'],
    ["trim('  a ')", 'a'],
    ["trim('xyaxx', 'xy')", 'a'],
    ["trimPrefix('abc', 'a')", 'bc'],
    ["trimPrefix(' abc')", 'abc'],
    ["trimPrefix('abc', 'x')", 'abc'],
    ["trimSuffix('abc', 'c')", 'ab'],
    ["trimSuffix('abc', 'x')", 'abc'],
    ["split('a,b,c', ',')", '[a b c]'],
    ["split('a,b,c', ',', 2)", '[a b,c]'],
    ["split('a,b,c', ',', 0)", '[]'],
    ["split('a,b,c', ',', -1)", '[a b c]'],
    ["split('abc', '')", '[a b c]'],
    ["replace('10-1-1-1', '-', '.')", '10.1.1.1'],
    ["replace('aaa', 'a', 'b', 2)", 'bba'],
    ["replace('aaa', 'a', '$&', -1)", '$&$&$&'],
    ["replace('ab', '', '-')", '-a-b-'],
    ["join(['a', 'b'], '-')", 'a-b'],
    ["join(['a', 'b'])", 'ab'],
    ['join([1])', 'error: expected string, got int'],
    [
      "join(map(1..2000, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))",
      'error: text is over 65536 characters',
    ],
    ["indexOf('abcabc', 'c')", '2'],
    ["indexOf('abc', 'x')", '-1'],
    ["hasPrefix('abc', 'ab')", 'true'],
    ["hasSuffix('abc', 'ab')", 'false'],
    ['string(1.5) + string(nil) + string([1])', '1.5<nil>[1]'],
  ])
})
