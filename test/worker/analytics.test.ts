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

const ANSWERED = {
  clusters: 'shop',
  rcode: 'NOERROR',
  type: 'AAAA',
  method: 'GET',
  freshness: 'fresh',
  name: 'web.shop.svc.example.org.',
  ms: 7,
  bytes: 120,
}
const BLOBS = ['shop', 'NOERROR', 'AAAA', 'GET', 'fresh', 'web.shop.svc.example.org.']

describe('a data point', () => {
  test('is one for an answer, with or without its name', () => {
    const { name: _name, ...unnamed } = ANSWERED
    assert.deepEqual(written(ANSWERED, unnamed), [
      { indexes: ['shop'], blobs: BLOBS, doubles: [7, 120] },
      { indexes: ['shop'], blobs: BLOBS.slice(0, 5), doubles: [7, 120] },
    ])
  })

  test('has an index of 96 bytes at the most, however many clusters a zone is of', () => {
    const clusters = Array.from({ length: 9 }, (_, i) => `cluster-number-${i}`).join(' ')
    const [point] = written({ ...ANSWERED, clusters })
    assert.deepEqual(point?.indexes, [clusters.slice(0, 96)])
    assert.equal(point?.blobs[0], clusters)
  })

  test('has what the page about it says', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/analytics.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `(index|blob|double)(\d)` \|/gm)]
    const [point] = written(ANSWERED)
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
