/**
 * What a token that sees some namespaces learns of time: nothing that a change elsewhere moves, and
 * still when its names are old.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { AGE_HEADER } from '../../../src/gateway/access/cors.ts'
import { Running } from '../running.ts'
import { tokenRecord } from '../tokens.ts'
import { WHOLE_SCOPE } from '../whole-scope.ts'

const WEB = 'web.shop.svc.cluster.local. 5 IN A 10.96.0.80'
const hidden = (last: number): string =>
  `${WEB}\n\nkey.secret.svc.cluster.local. 5 IN A 192.0.2.${last}`
const PATHS = ['web.shop.svc', 'key.secret.svc', 'none.shop.svc', 'ns.dns'].flatMap((name) =>
  ['A', 'SOA', 'NS'].flatMap((type) =>
    ['/resolve', '/v1/explain'].map((path) => `${path}?name=${name}.cluster.local&type=${type}`),
  ),
)

/** All that a token gets for some requests. */
async function responses(running: Running, token: string): Promise<string[]> {
  return Promise.all(
    PATHS.map(async (path) => {
      const response = await running.get(path, token)
      return `${path} ${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
    }),
  )
}

async function start(): Promise<{ running: Running; limited: string; whole: string }> {
  const running = await Running.start()
  const scope = { ...WHOLE_SCOPE, explain: true }
  const one = await tokenRecord({ scope: { ...scope, namespaces: ['shop'] } })
  const other = await tokenRecord({ scope })
  for (const { record } of [one, other]) await running.tokens.add(record)
  return { running, limited: one.token, whole: other.token }
}

/** Has the gateway go over to what was published. */
async function refresh(running: Running, token: string): Promise<void> {
  await running.host.advance(5000)
  await responses(running, token)
  await Promise.all(running.kept)
}

describe('a change in a namespace that a token does not see', () => {
  test('changes none of its responses, and serial and age of a client that sees all', async () => {
    const { running, limited, whole } = await start()
    const confirmedMs = running.host.now()
    await running.publish(hidden(1), 1)
    await refresh(running, whole)
    const before = await responses(running, limited)
    const wholeBefore = await responses(running, whole)
    await running.publish(hidden(2), 2, undefined, confirmedMs)
    await refresh(running, whole)
    // Five more seconds have passed for both.
    const aged = (texts: readonly string[]): string[] =>
      texts.map((text) => text.replace(`"${AGE_HEADER}","5"`, `"${AGE_HEADER}","10"`))
    assert.deepEqual(await responses(running, limited), aged(before))
    assert.ok(before.some((text) => text.includes(`"${AGE_HEADER}","5"`)))
    const wholeAfter = await responses(running, whole)
    assert.ok(wholeAfter.every((text, i) => text !== aged(wholeBefore)[i]))
    assert.ok(wholeAfter.some((text) => text.includes(`"${AGE_HEADER}","5"`)))
  })

  test('does not make names new that have not been confirmed for long', async () => {
    const { running, limited, whole } = await start()
    const confirmedMs = running.host.now()
    await running.publish(hidden(1), 1)
    await running.host.advance(58_000)
    await running.publish(hidden(2), 2, undefined, confirmedMs)
    await refresh(running, whole)
    const freshnessFor = async (token: string): Promise<unknown> => {
      const response = await running.get('/v1/explain?name=web.shop.svc.cluster.local', token)
      return JSON.parse(await response.text()).facts[0].freshness
    }
    assert.equal(await freshnessFor(limited), 'stale')
    assert.equal(await freshnessFor(whole), 'fresh')
  })
})
