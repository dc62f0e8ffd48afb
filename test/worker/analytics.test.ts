import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { type DatasetLike, pointWriter } from '../../worker/analytics.ts'

type Point = Parameters<DatasetLike['writeDataPoint']>[0]

function written(...answered: Parameters<ReturnType<typeof pointWriter>>[0][]): Point[] {
  const points: Point[] = []
  const writePoint = pointWriter({ writeDataPoint: (point) => points.push(point) })
  for (const one of answered) writePoint(one)
  return points
}

const words = ['NOERROR', 'AAAA', 'GET', 'fresh', 'web.shop.svc.example.org.']
const numbers = [0, 120]

describe('a data point', () => {
  test('is one for an answer', () => {
    assert.deepEqual(written({ clusters: 'shop', words, numbers }), [
      { indexes: ['shop'], blobs: ['shop', ...words], doubles: [0, 120] },
    ])
  })

  test('has an index of 96 bytes at the most, however many clusters a zone is of', () => {
    const clusters = Array.from({ length: 9 }, (_, i) => `cluster-number-${i}`).join(' ')
    const [point] = written({ clusters, words, numbers })
    assert.deepEqual(point?.indexes, [clusters.slice(0, 96)])
    assert.equal(point?.blobs[0], clusters)
  })

  test('has what the page about it says', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/analytics.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `(index|blob|double)(\d)` \|/gm)]
    const [point] = written({ clusters: 'shop', words, numbers })
    const columns = (kind: string, { length }: readonly unknown[] = []): string[] =>
      Array.from({ length }, (_, i) => `${kind}${i + 1}`)
    assert.deepEqual(
      rows.map(([, kind, number]) => `${kind}${number}`),
      [
        ...columns('index', point?.indexes),
        ...columns('blob', point?.blobs),
        ...columns('double', point?.doubles),
      ],
    )
  })
})
