import { describe } from 'vitest'
import { testOutcomes } from './evaluate.ts'

const REFUSED = 'is not an escape; write two backslashes for a backslash'

describe('escapes', () => {
  testOutcomes([
    [String.raw`'\a\b\f\n\r\t\v\\'`, '\x07\b\f\n\r\t\v\\'],
    [String.raw`'it\'s'`, "it's"],
    [String.raw`"\""`, '"'],
    [String.raw`'\x41\u0042\u{43}\U00000044\105'`, 'ABCDE'],
    [String.raw`'\u{1F600}'`, '😀'],
    [String.raw`'\.'`, `refused 1: "\\." ${REFUSED}`],
    [String.raw`'\"'`, `refused 1: "\\"" ${REFUSED}`],
    [String.raw`'\u{110000}'`, `refused 1: "\\u" ${REFUSED}`],
    [String.raw`'\400'`, `refused 1: "\\4" ${REFUSED}`],
    [String.raw`'\x4'`, `refused 1: "\\x" ${REFUSED}`],
  ])
})
