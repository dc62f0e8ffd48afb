import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isWordCharacter, PERL_CLASSES, POSIX_CLASSES } from '../../src/pattern/classes.ts'

describe('classes', () => {
  test('know the characters of words', () => {
    const words = Array.from({ length: 128 }, (_, code) => code).filter(isWordCharacter)
    equal(
      String.fromCharCode(...words),
      '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz',
    )
  })

  test('are those of Perl and of POSIX', () => {
    deepEqual(Object.keys(PERL_CLASSES), ['d', 's', 'w'])
    equal(Object.keys(POSIX_CLASSES).length, 14)
    deepEqual(POSIX_CLASSES.space, [
      [9, 13],
      [32, 32],
    ])
  })
})
