import { describe } from 'vitest'
import { testOutcomes } from './evaluate.ts'

describe('functions of numbers', () => {
  testOutcomes([
    ["int('42')", '42'],
    ["int('+5')", '5'],
    ["int('-7')", '-7'],
    ["int('x')", 'error: "x" is not an integer'],
    ["int('9223372036854775808')", 'error: "9223372036854775808" is not an integer'],
    ['int(4.9)', '4'],
    ['int(-4.9)', '-4'],
    ['int(1 / 0)', 'error: "int" takes finite numbers'],
    ['int(true)', 'refused 4: "int" takes int or float or string, got bool'],
    ['max(1, 5, 3)', '5'],
    ['max([1, 5], 2.5)', '5'],
    ['min(3, 1.5)', '1.5'],
    ['min([])', '<nil>'],
    ["max('a')", 'refused 4: "max" takes int or float or array, got string'],
    ["max(['a'])", 'error: expected a number, got string'],
    ['max()', 'refused 0: "max" takes 1 or more argument(s), got 0'],
  ])
})
