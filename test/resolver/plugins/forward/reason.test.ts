import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { reasonOf } from '../../../../src/resolver/plugins/forward/reason.ts'

describe('reasonOf', () => {
  const cases: readonly [error: unknown, reason: string][] = [
    [new Error('no response over UDP in time'), 'a: no response over UDP in time: i/o timeout'],
    [new Error('recvmsg ECONNREFUSED'), 'a: recvmsg ECONNREFUSED: connection refused'],
    [
      new Error('connect EHOSTUNREACH 192.0.2.1:53'),
      'a: connect EHOSTUNREACH 192.0.2.1:53: no route to host',
    ],
    [new Error('read ECONNRESET'), 'a: read ECONNRESET: connection reset by peer'],
    [new Error('send ENETUNREACH'), 'a: send ENETUNREACH: network is unreachable'],
    [new Error('too many queries under way'), 'a: too many queries under way'],
    ['what', 'a: failed'],
  ]
  for (const [error, reason] of cases) {
    test(`is "${reason}"`, () => {
      assert.equal(reasonOf('a', error), reason)
    })
  }
})
