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
    ['concat([1], [2, 3])', '[1 2 3]'],
    ["concat('a')", 'refused 7: "concat" takes array, got string'],
  ])
})
