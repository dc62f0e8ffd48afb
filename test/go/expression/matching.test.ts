import { describe } from 'vitest'
import { testOutcomes } from './evaluate.ts'

describe('matches', () => {
  testOutcomes([
    [String.raw`name() matches '^www\\..*'`, 'true'],
    [String.raw`name() not matches '^www\\.'`, 'false'],
    ["name() matches 'z'", 'false'],
    ["'example.org.' matches zone", 'true'],
    ['same(nil) matches zone', 'false'],
    ["'a' matches same(nil)", 'false'],
    ["'a' matches same(1)", 'error: "matches" does not accept string and int'],
    ["1 matches 'a'", 'refused 2: "matches" does not accept int and string'],
    ["map(['a', 'b', 'a'], 'a' matches #)", '[true false true]'],
  ])
})
