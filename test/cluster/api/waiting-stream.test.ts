import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'vitest'
import { readWaiting } from '../../../src/cluster/api/waiting-stream.ts'

describe('a stream that its reader has wait', () => {
  test('brings all of it, in its order, and nothing while it waits', async () => {
    const events: string[] = []
    const stream = Readable.from(['ab', 'cd', 'ef'], { objectMode: true })
    await readWaiting(stream, (text: string) => {
      events.push(text.slice(0, 1))
      if (text.length < 2) return undefined
      const until = Promise.resolve().then(() => events.push('-'))
      return { until, left: text.slice(1) }
    })
    assert.deepEqual(events, ['a', '-', 'b', 'c', '-', 'd', 'e', '-', 'f'])
  })

  const failures: { name: string; take: (text: string) => undefined | never }[] = [
    {
      name: 'at once',
      take: () => {
        throw new RangeError('no')
      },
    },
  ]
  for (const { name, take } of failures) {
    test(`fails as its reader does: ${name}`, async () => {
      await assert.rejects(readWaiting(Readable.from(['a']), take), new RangeError('no'))
    })
  }

  test('fails as what it waits for does', async () => {
    const reading = readWaiting(Readable.from(['a', 'b']), () => {
      return { until: Promise.reject(new RangeError('no')), left: '' }
    })
    await assert.rejects(reading, new RangeError('no'))
  })
})
