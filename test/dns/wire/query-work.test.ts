/** How much of a message the gate reads, however it is made. */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseQuery } from '../../../src/dns/wire/query.ts'
import { messageOf } from './messages.ts'

describe('the work of parseQuery', () => {
  /** Reads per byte of the message, worst cases included. */
  const READS_PER_OCTET_MAX = 4
  const question4 = '00 0001 0001'
  const most: [number, number, number, number] = [1, 1, 1, 2]
  const cases: { name: string; counts?: typeof most; body: string }[] = [
    { name: 'counts of 65535', counts: [1, 65535, 65535, 65535], body: question4 },
    { name: 'a tiny body', body: question4 },
    { name: 'one byte after the question', body: `${question4} 00` },
    { name: 'empty records', body: `${question4} ${'0000010001000000000000'.repeat(4)}` },
    {
      name: 'records at pointers',
      body: `${question4} ${'c00c00010001000000000000'.repeat(4)}`,
    },
    {
      name: 'records at labels',
      body: `${question4} ${'016100 00010001000000000000'.repeat(4)}`,
    },
    {
      name: 'records at 126 labels and a pointer',
      body: `${question4} ${`${'0161'.repeat(126)}c00c 00010001000000000000`.repeat(4)}`,
    },
    {
      name: '16,000 options',
      counts: [1, 0, 0, 1],
      body: `${question4} 00 0029 04d0 00000000 fa00 ${'00640000'.repeat(16000)}`,
    },
  ]
  for (const { name, counts = most, body } of cases) {
    test(`is in proportion to the message with ${name}`, () => {
      const bytes = messageOf({ counts, body })
      let reads = 0
      const counted = new Proxy(bytes, {
        get(target, key) {
          if (typeof key === 'string' && key !== 'length') reads++
          return Reflect.get(target, key, target)
        },
      })
      parseQuery(counted)
      assert.ok(reads > 0)
      assert.ok(reads <= READS_PER_OCTET_MAX * bytes.length, `${reads} reads of ${bytes.length}`)
    })
  }
})
