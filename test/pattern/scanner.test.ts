import { equal, throws } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PatternScanner } from '../../src/pattern/scanner.ts'

describe('PatternScanner', () => {
  test('reads characters, words and up to words', () => {
    const scanner = new PatternScanner('ab😀c\\Qd\\Ee')
    equal(scanner.take('b'), false)
    equal(scanner.take('ab'), true)
    equal(scanner.next(), '😀')
    equal(scanner.rest(3), 'c\\Q')
    scanner.skip(3)
    equal(scanner.takeUntil('\\E'), 'd')
    equal(scanner.sees('e'), true)
    equal(scanner.takeUntil('\\E'), 'e')
    equal(scanner.isAtEnd, true)
    throws(() => scanner.next(), { message: 'it ends too early' })
  })
})
