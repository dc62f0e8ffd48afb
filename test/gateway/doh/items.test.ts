/**
 * The protocol checklist as far as it is about HTTP: every item has cases, and every case is asked
 * of the gateway on Node, over HTTP/1.1 and HTTP/2 with TLS, and in workerd.
 * @module
 */
import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { formatReply } from '../../message-text.ts'
import { checkCase, textOf } from './check-case.ts'
import { CACHING } from './item-caching.ts'
import type { Item, RequestCase, RuleCase } from './item-cases.ts'
import { CONNECTIONS } from './item-connections.ts'
import { DECODING } from './item-decoding.ts'
import {
  type Gateways,
  startInWorkerd,
  startOnNode,
  type Way,
  type WayName,
} from './item-gateways.ts'
import { JSON_ANSWERS, JSON_PARAMETERS } from './item-json.ts'
import { DISCOVERY, OPTIONS } from './item-options.ts'
import { ROUTING } from './item-routing.ts'
import { ABUSE, ACCESS } from './item-security.ts'
import { STATUS } from './item-status.ts'

const ITEMS: readonly Item[] = [
  ...ROUTING,
  ...DECODING,
  ...STATUS,
  ...CACHING,
  ...CONNECTIONS,
  ...JSON_PARAMETERS,
  ...JSON_ANSWERS,
  ...OPTIONS,
  ...DISCOVERY,
  ...ACCESS,
  ...ABUSE,
]
const WAYS: readonly WayName[] = ['Node, HTTP/1.1', 'Node, HTTP/2', 'workerd']

const started: Gateways[] = []
const ways = new Map<WayName, Way>()
/** What was not tried, by the reason. */
const left = new Map<string, Set<string>>()

beforeAll(async () => {
  started.push(...(await Promise.all([startOnNode(), startInWorkerd()])))
  for (const way of started.flatMap((gateways) => gateways.ways)) ways.set(way.name, way)
})
afterAll(async () => {
  for (const { stop } of started) await stop()
  for (const [reason, where] of left) {
    process.stdout.write(`not tried, ${[...where].join('; ')}: ${reason}\n`)
  }
})

test('every topic has a case, or the reason why it has none; no name stands twice', () => {
  const topics = ITEMS.map(({ topic }) => topic)
  assert.deepEqual(topics, [...new Set(topics)])
  for (const { topic, cases, untested } of ITEMS) {
    assert.ok(cases.length > 0 || untested !== undefined, topic)
    const names = cases.map(({ name }) => name)
    assert.deepEqual(names, [...new Set(names)], topic)
    if (untested !== undefined) leaveOut(untested, cases.length > 0 ? `${topic}, in part` : topic)
  }
})

for (const name of WAYS) {
  describe(`protocol items by ${name}`, () => {
    for (const { topic, cases } of ITEMS) {
      for (const row of cases) {
        const reason = row.not?.[name]
        if (reason !== undefined) leaveOut(reason, `${topic} by ${name}`)
        if (reason !== undefined || (isRule(row) && row.isOnce && name !== WAYS[0])) continue
        test(`${topic}: ${row.name}`, async () => {
          const way = ways.get(name) ?? assert.fail('it did not start')
          if (isRule(row)) await row.check(way)
          else await checkRequest(way, row)
        })
      }
    }
  })
}

function leaveOut(reason: string, where: string): void {
  left.set(reason, (left.get(reason) ?? new Set()).add(where))
}

function isRule(row: RequestCase | RuleCase): row is RuleCase {
  return 'check' in row
}

async function checkRequest({ send }: Way, row: RequestCase): Promise<void> {
  const got = await send(row, row.to)
  checkCase(got, row)
  if (row.lines !== undefined) assert.deepEqual(formatReply(got.body), row.lines)
  if (row.data !== undefined) assert.equal(JSON.parse(textOf(got)).Answer[0].data, row.data)
  if (row.bytes !== undefined) assert.equal(got.body.length, row.bytes)
}
