import { describe } from 'vitest'
import { testOutcomes } from './evaluate.ts'

describe('functions of lists and maps', () => {
  testOutcomes([
    ["len('früh')", '4'],
    ['len([1, 2])', '2'],
    ["len({'a': 1})", '1'],
    ['len(1)', 'refused 4: "len" takes array or map or string, got int'],
    ['len(same(1))', 'error: expected array, got int'],
    ['first([1, 2])', '1'],
    ['last([1, 2])', '2'],
    ['first([])', '<nil>'],
    ['get([1, 2], 1)', '2'],
    ['get([1, 2], 5)', '<nil>'],
    ["get({'a': 1}, 'a')", '1'],
    ["get({'a': 1}, 'b')", '<nil>'],
    ['take([1, 2, 3], 2)', '[1 2]'],
    ['take([1, 2, 3], 9)', '[1 2 3]'],
    ['take([1], -1)', 'error: "take" takes no negative number'],
    ["keys({'a': 1, 'b': 2})", '[a b]'],
    ["values({'a': 1, 'b': 2})", '[1 2]'],
    ["toPairs({'a': 1})", '[[a 1]]'],
    ["fromPairs([['a', 1]])", 'map[a:1]'],
    ['fromPairs([1])', 'error: expected a list of two, got int'],
    ['reverse([1, 2, 3])', '[3 2 1]'],
    ['uniq([1, 1.0, 2])', '[1 2]'],
    ['uniq(1..2000)', 'error: "uniq" takes at most 1000 elements'],
    ['concat([1], [2, 3])', '[1 2 3]'],
    ["concat('a')", 'refused 7: "concat" takes array, got string'],
    ['flatten([1, [2, [3]]])', '[1 2 3]'],
    ['sort([3, 1, 2])', '[1 2 3]'],
    ["sort(['b', 'a', 'c'], 'desc')", '[c b a]'],
    ["sort([1], 'up')", 'error: the order is "asc" or "desc", not "up"'],
    ["sort([1, 'a'])", 'error: "<" has no meaning for string and int'],
  ])
})
