import { describe } from 'vitest'
import { testOutcomes } from './evaluate.ts'

describe('functions that apply a closure', () => {
  testOutcomes([
    ['all([1, 2], # > 0)', 'true'],
    ['all([1, 2], {# > 1})', 'false'],
    ['all([], false)', 'true'],
    ['any([1, 2], # == 2)', 'true'],
    ['any([], true)', 'false'],
    ['none([1, 2], # == 4)', 'true'],
    ['one([1, 2, 2], # == 2)', 'false'],
    ['filter(1..6, # % 2 == 0)', '[2 4 6]'],
    ['map(1..3, # * 2)', '[2 4 6]'],
    ["map([{'a': 1}], .a)", '[1]'],
    ['map([1, 2], map([3, 4], #))', '[[3 4] [3 4]]'],
    ['map([1, 2], {let x = #; x + map([5], # + x)[0]})', '[7 9]'],
    ['count([true, false, true])', '2'],
    ['count([1])', 'error: expected bool, got int'],
    ['count(1..10, # > 5)', '5'],
    ['find([1, 2, 3], # > 1)', '2'],
    ['find([1], # > 5)', '<nil>'],
    ['findIndex([1, 2, 3], # > 1)', '1'],
    ['findIndex([1], # > 5)', '<nil>'],
    ['[1, 2] | filter(# > 1) | map(# + 1)', '[3]'],
    ["any(['www.', 'api.'], name() startsWith #)", 'true'],
    ['all(1, true)', 'refused 4: "all" takes an array, got int'],
    [
      'filter([1], #)',
      'refused 12: "filter" takes a closure that returns a bool, this one returns int',
    ],
    ['map([1], #acc)', 'refused 9: "#acc" is not supported, only "#" is'],
    ['any(same([1]), #)', 'error: expected bool, got int'],
    ['any(same(1), true)', 'error: expected array, got int'],
    ['all(1..90000, all([1], true))', 'error: the expression visits more than 100000 elements'],
  ])
})
