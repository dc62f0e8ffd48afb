import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import type { Answered } from '../../src/gateway/routes/answer-observer.ts'
import { type DatasetLike, pointWriter } from '../../worker/analytics.ts'

type Point = Parameters<DatasetLike['writeDataPoint']>[0]

function written(answered: readonly Answered[], hasTokens = true): Point[] {
  const points: Point[] = []
  const dataset = { writeDataPoint: (point: Point) => points.push(point) }
  const writePoint = pointWriter(dataset, { hasTokens })
  for (const one of answered) writePoint(one)
  return points
}

/** A request as Cloudflare has it. */
const REQUEST = Object.assign(new Request('https://dns.example.org/'), {
  cf: { colo: 'FRA', country: 'DE' },
})
const ANSWERED: Answered = {
  clusters: 'shop',
  rcode: 'NOERROR',
  type: 'AAAA',
  method: 'GET',
  freshness: 'fresh',
  name: 'web.shop.svc.example.org.',
  tokenId: '0123456789ab',
  request: REQUEST,
  ms: 7,
  bytes: 120,
}
const BLOBS = ['shop', 'NOERROR', 'AAAA', 'GET', 'fresh']

describe('a data point', () => {
  const { name = '', tokenId, ...bare } = ANSWERED
  const cases: { what: string; of: Answered; hasTokens?: false; more: readonly string[] }[] = [
    { what: 'all', of: ANSWERED, more: [name, tokenId, 'FRA', 'DE'] },
    { what: 'no name', of: { ...bare, tokenId }, more: ['', tokenId, 'FRA', 'DE'] },
    { what: 'no token', of: { ...ANSWERED, tokenId: '' }, more: [name, '', 'FRA', 'DE'] },
    { what: 'a hidden token', of: ANSWERED, hasTokens: false, more: [name, '', 'FRA', 'DE'] },
    {
      what: 'no place',
      of: { ...ANSWERED, request: new Request('https://dns.example.org/') },
      more: [name, tokenId, '', ''],
    },
    { what: 'no request', of: { ...ANSWERED, request: undefined }, more: [name, tokenId, '', ''] },
  ]
  for (const { what, of, hasTokens, more } of cases) {
    test(`has each value in a column of its own, with ${what}`, () => {
      const point = { indexes: ['shop'], blobs: [...BLOBS, ...more], doubles: [7, 120] }
      assert.deepEqual(written([of], hasTokens), [point])
    })
  }

  test('has an index of 96 bytes at the most, however many clusters a zone is of', () => {
    const clusters = Array.from({ length: 9 }, (_, i) => `cluster-number-${i}`).join(' ')
    const [point] = written([{ ...ANSWERED, clusters }])
    assert.deepEqual(point?.indexes, [clusters.slice(0, 96)])
    assert.equal(point?.blobs[0], clusters)
  })

  test('has what the page about it says', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/analytics.md'), 'utf8')
    const rows = [...text.matchAll(/^\| `(index|blob|double)(\d)` \|/gm)]
    const [point] = written([ANSWERED])
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
