import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { BuiltSnapshot } from '../../src/cluster/follow/snapshot-builder.ts'
import { GatewayError } from '../../src/exporter/gateway-client.ts'
import { isSignedBy } from '../../src/snapshot/format/signature.ts'
import type { TokenIssuer } from '../../src/snapshot/format/token-issuer.ts'
import { Exporting, pair, sha256, snapshot } from '../cluster/follow/exporting.ts'
import { START_MS } from '../cluster/follow/fake-clock.ts'

const START = START_MS / 1000
const AWAY = new GatewayError('https://dns.example.org cannot be reached: reset by peer')

describe('publishing', () => {
  test('starts with the state, and expects nothing for a new cluster', async () => {
    const exporting = new Exporting()
    const report = await exporting.publish(snapshot(['a', 'bc']))
    assert.deepEqual(exporting.calls(), ['state', 'manifest'])
    const { manifest, expected } = exporting.last
    assert.equal(expected, undefined)
    assert.deepEqual(manifest, {
      version: 1,
      cluster: 'shop',
      generation: START,
      time: '2026-01-01T00:00:00.000Z',
      confirmed: '2026-01-01T00:00:00.000Z',
      origins: ['cluster.local.'],
      ttlSeconds: 5,
      records: 7,
      sources: { services: '7' },
      shards: [
        { sha256: await sha256('a'), bytes: 1 },
        { sha256: await sha256('bc'), bytes: 2 },
      ],
    })
    assert.deepEqual(report, {
      generation: START,
      records: 7,
      isConfirmation: false,
      shards: 0,
      shardBytes: 0,
      manifestBytes: exporting.gateway.manifests[0]?.bytes.length,
    })
  })

  test('reads the state ahead, once for what is published at the same time', async () => {
    const exporting = new Exporting()
    const prepared = exporting.prepare()
    await exporting.publish(snapshot(['a']))
    await prepared
    assert.deepEqual(exporting.calls(), ['state', 'manifest'])
    await exporting.prepare()
    await exporting.publish(snapshot(['a', 'b']))
    assert.deepEqual(exporting.calls(), ['shard', 'manifest'])
  })

  test('reads the state again if that failed ahead', async () => {
    const exporting = new Exporting()
    exporting.gateway.failStates(AWAY)
    await exporting.prepare()
    await exporting.publish(snapshot(['a']))
    assert.deepEqual(exporting.calls(), ['state', 'state', 'manifest'])
  })

  test('publishes an issuer of tokens, and its changes', async () => {
    const exporting = new Exporting()
    const issuer = (kid: string): TokenIssuer => {
      return { issuer: 'https://api.test', keys: [{ kty: 'EC', kid }] }
    }
    await exporting.publish(snapshot(['a']), undefined, { tokenIssuer: issuer('one') })
    assert.deepEqual(exporting.last.manifest.tokenIssuer, issuer('one'))
    exporting.nowMs += 1000
    const same = await exporting.publish(snapshot(['a']), undefined, { tokenIssuer: issuer('one') })
    assert.equal(same?.isConfirmation, true)
    const other = await exporting.publish(snapshot(['a']), undefined, {
      tokenIssuer: issuer('two'),
    })
    assert.equal(other?.isConfirmation, false)
    assert.deepEqual(exporting.last.manifest.tokenIssuer, issuer('two'))
  })

  test('publishes a table of rights as it does shards, and its changes', async () => {
    const exporting = new Exporting()
    const rights = (text: string) => ({ rights: new TextEncoder().encode(text) })
    await exporting.publish(snapshot(['a']), undefined, rights('ana'))
    const { manifest } = exporting.last
    assert.deepEqual(manifest.rights, { sha256: await sha256('ana'), bytes: 3 })
    assert.deepEqual(manifest.shards, [{ sha256: await sha256('a'), bytes: 1 }])
    exporting.nowMs += 1000
    const same = await exporting.publish(snapshot(['a']), undefined, rights('ana'))
    assert.equal(same?.isConfirmation, true)
    const other = await exporting.publish(snapshot(['a']), undefined, rights('bob'))
    assert.deepEqual([other?.isConfirmation, other?.shards, other?.shardBytes], [false, 1, 3])
    const none = await exporting.publish(snapshot(['a']), undefined)
    assert.equal(none?.isConfirmation, false)
    assert.equal(exporting.last.manifest.rights, undefined)
  })

  test('does not take a table of rights for a shard, or for none', async () => {
    const exporting = new Exporting()
    const bytes = new TextEncoder().encode('b')
    await exporting.publish(snapshot(['a', 'b']))
    const other = await exporting.publish(snapshot(['a']), undefined, { rights: bytes })
    assert.equal(other?.isConfirmation, false)
    const { rights, shards } = exporting.last.manifest
    assert.deepEqual([rights?.sha256, shards.length], [await sha256('b'), 1])
  })

  test('publishes other trees, with their shards, and their changes', async () => {
    const exporting = new Exporting()
    const tree = (text: string, ttlSeconds = 0): BuiltSnapshot =>
      snapshot(['a'], { trees: { labels: { ...snapshot([text, 'd']), records: 2, ttlSeconds } } })
    await exporting.publish(tree('b'))
    assert.deepEqual(exporting.last.manifest.shards, [{ sha256: await sha256('a'), bytes: 1 }])
    const listed = async (text: string): Promise<object[]> => [
      { sha256: await sha256(text), bytes: text.length },
      { sha256: await sha256('d'), bytes: 1 },
    ]
    const labels = { ttlSeconds: 0, records: 2, shards: await listed('b') }
    assert.deepEqual(exporting.last.manifest.trees, { labels })
    exporting.nowMs += 1000
    const same = await exporting.publish(tree('b'))
    assert.deepEqual([same?.generation, same?.isConfirmation], [START, true])
    const other = await exporting.publish(tree('cc'))
    assert.deepEqual([other?.generation, other?.shards], [START + 1, 1])
    assert.deepEqual(exporting.last.manifest.trees?.labels?.shards, await listed('cc'))
    assert.equal((await exporting.publish(tree('cc', 7)))?.generation, START + 2)
    assert.equal((await exporting.publish(snapshot(['a'])))?.generation, START + 3)
    assert.equal(exporting.last.manifest.trees, undefined)
  })

  test('signs what it sends', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    const [put] = exporting.gateway.manifests
    assert.ok(put && (await isSignedBy(pair.publicKey, put.bytes, put.signature)))
    const changed = put.bytes.with(0, 0x20)
    assert.equal(await isSignedBy(pair.publicKey, changed, put.signature), false)
  })

  test('continues after another exporter’s manifest', async () => {
    const exporting = new Exporting()
    exporting.gateway.published = { etag: '"e0"', generation: START + 900, timeMs: 0 }
    await exporting.publish(snapshot(['a']))
    const { manifest, expected } = exporting.last
    assert.deepEqual([manifest.generation, expected], [START + 901, '"e0"'])
  })

  test('reads the state once, and then knows what it replaces, and what is new', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.calls()
    exporting.nowMs += 5000
    const report = await exporting.publish(snapshot(['b']))
    assert.deepEqual(exporting.calls(), ['shard', 'manifest'])
    assert.equal(exporting.last.expected, '"e1"')
    assert.equal(report?.generation, START + 5)
    assert.equal(report?.isConfirmation, false)
  })

  test('dates names by when they were confirmed', async () => {
    const exporting = new Exporting()
    exporting.nowMs += 5000
    await exporting.publish(snapshot(['a']), START_MS + 1234)
    const { manifest } = exporting.last
    assert.equal(manifest.time, '2026-01-01T00:00:01.234Z')
    assert.equal(manifest.generation, START + 5)
  })
})

describe('a snapshot with the same names', () => {
  test('keeps its generation, and is confirmed', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.nowMs += 15_000
    const report = await exporting.publish(snapshot(['a']))
    const { manifest, expected } = exporting.last
    assert.deepEqual([report?.generation, report?.isConfirmation], [START, true])
    assert.equal(expected, '"e1"')
    assert.deepEqual([manifest.generation, manifest.time], [START, '2026-01-01T00:00:15.000Z'])
  })

  test('is not published again when nothing was confirmed since', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.calls()
    exporting.nowMs += 15_000
    assert.equal(await exporting.publish(snapshot(['a']), START_MS), undefined)
    assert.deepEqual(exporting.calls(), [])
  })

  const others: { name: string; built: BuiltSnapshot }[] = [
    { name: 'another shard', built: snapshot(['a', 'c']) },
    { name: 'the shards in another order', built: snapshot(['b', 'a']) },
    { name: 'more shards', built: snapshot(['a', 'b', 'a', 'b']) },
    { name: 'another TTL', built: snapshot(['a', 'b'], { ttlSeconds: 6 }) },
    { name: 'another origin', built: snapshot(['a', 'b'], { origins: ['example.org.'] }) },
  ]
  for (const { name, built } of others) {
    test(`is none with ${name}`, async () => {
      const exporting = new Exporting()
      await exporting.publish(snapshot(['a', 'b']))
      const report = await exporting.publish(built)
      assert.deepEqual([report?.generation, report?.isConfirmation], [START + 1, false])
    })
  }
})

describe('shards that the gateway misses', () => {
  const missing = async (...texts: readonly string[]) => ({
    kind: 'missing' as const,
    sha256s: await Promise.all(texts.map(sha256)),
  })

  test('are uploaded, and no others', async () => {
    const exporting = new Exporting()
    exporting.gateway.answer(await missing('bc', 'd'))
    const report = await exporting.publish(snapshot(['a', 'bc', 'd', 'e']))
    assert.deepEqual(exporting.calls(), ['state', 'manifest', 'shard', 'shard', 'manifest'])
    assert.deepEqual(
      exporting.gateway.shards,
      new Map([
        [await sha256('bc'), Uint8Array.of(0x62, 0x63)],
        [await sha256('d'), Uint8Array.of(0x64)],
      ]),
    )
    assert.deepEqual([report?.shards, report?.shardBytes], [2, 3])
    const [first, second] = exporting.gateway.manifests
    assert.deepEqual(second, first)
  })

  test('are uploaded once, though two shards are equal', async () => {
    const exporting = new Exporting()
    exporting.gateway.answer(await missing('a', 'b'))
    const report = await exporting.publish(snapshot(['a', 'b', 'a', 'a']))
    assert.deepEqual(exporting.calls(), ['state', 'manifest', 'shard', 'shard', 'manifest'])
    assert.deepEqual([report?.shards, report?.shardBytes], [2, 2])
  })

  test('are uploaded sixteen at a time', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => `shard ${i}`)
    const exporting = new Exporting()
    exporting.gateway.answer(await missing(...texts))
    await exporting.publish(snapshot(texts))
    assert.equal(exporting.gateway.uploadsMost, 16)
    assert.equal(exporting.gateway.shards.size, 40)
  })

  test('are all counted when the gateway asks twice', async () => {
    const exporting = new Exporting()
    exporting.gateway.answer(await missing('a'), await missing('bc'))
    const report = await exporting.publish(snapshot(['a', 'bc']))
    assert.deepEqual([report?.shards, report?.shardBytes], [2, 3])
  })

  test('that cannot be uploaded fail all of it', async () => {
    const exporting = new Exporting()
    exporting.gateway.answer(await missing('a'))
    exporting.gateway.failShards(AWAY)
    await assert.rejects(exporting.publish(snapshot(['a'])), AWAY)
    assert.deepEqual(exporting.calls(), ['state', 'manifest', 'shard'])
  })
})

describe('when the clock was ahead and is set back', () => {
  const DAY_MS = 25 * 3600 * 1000

  test('the same names are a new generation with the right time', async () => {
    const exporting = new Exporting()
    exporting.nowMs += DAY_MS
    await exporting.publish(snapshot(['a']))
    exporting.nowMs -= DAY_MS
    const report = await exporting.publish(snapshot(['a']))
    const generation = START + DAY_MS / 1000 + 1
    assert.deepEqual([report?.generation, report?.isConfirmation], [generation, false])
    assert.equal(exporting.last.manifest.time, '2026-01-01T00:00:00.000Z')
  })

  test('changes keep the last time that the gateway took, when it takes no older one', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.nowMs -= DAY_MS
    exporting.gateway.answer({ kind: 'older', message: 'no' })
    const report = await exporting.publish(snapshot(['b']))
    assert.equal(report?.generation, START + 1)
    assert.equal(exporting.last.manifest.time, '2026-01-01T00:00:00.000Z')
  })

  test('also those of another exporter', async () => {
    const exporting = new Exporting()
    const timeMs = START_MS + DAY_MS
    exporting.gateway.published = { etag: '"e0"', generation: START, timeMs }
    exporting.gateway.answer({ kind: 'older', message: 'no' })
    await exporting.publish(snapshot(['b']))
    assert.equal(exporting.last.manifest.time, new Date(timeMs).toISOString())
  })

  test('nothing is confirmed, and the refusal is reported', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.nowMs -= DAY_MS
    exporting.gateway.answer({ kind: 'older', message: 'The time is before the present one' })
    await assert.rejects(exporting.publish(snapshot(['a'])), {
      name: 'GatewayError',
      message: 'The time is before the present one',
    })
  })
})

describe('when somebody else publishes in between', () => {
  test('the state is read again, and a later generation follows', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.calls()
    exporting.gateway.answer({ kind: 'changed' })
    exporting.gateway.published = { etag: '"other"', generation: START + 900, timeMs: 0 }
    const report = await exporting.publish(snapshot(['a']), START_MS + 1)
    assert.deepEqual(exporting.calls(), ['manifest', 'state', 'manifest'])
    assert.deepEqual(exporting.gateway.manifests.map(({ expected }) => expected).slice(1), [
      '"e1"',
      '"other"',
    ])
    assert.deepEqual([report?.generation, report?.isConfirmation], [START + 901, false])
  })

  test('again and again, it waits longer each time, and gives up after 16 attempts', async () => {
    const exporting = new Exporting()
    exporting.gateway.answer(...Array.from({ length: 16 }, () => ({ kind: 'changed' as const })))
    await assert.rejects(exporting.publish(snapshot(['a'])), {
      name: 'GatewayError',
      message: 'Gave up after 16 attempts: other exporters publish cluster "shop" too',
    })
    const attempts = Array.from({ length: 16 }, () => ['state', 'manifest']).flat()
    assert.deepEqual(exporting.calls(), attempts)
    assert.deepEqual(exporting.waits.slice(0, 7), [25, 50, 100, 200, 400, 800, 1000])
  })
})

describe('after a failure', () => {
  test('it begins with the state again, and confirms nothing', async () => {
    const exporting = new Exporting()
    await exporting.publish(snapshot(['a']))
    exporting.gateway.answer(AWAY)
    await assert.rejects(exporting.publish(snapshot(['b'])), AWAY)
    exporting.calls()
    exporting.gateway.published = { etag: '"e7"', generation: START + 1, timeMs: 0 }
    const report = await exporting.publish(snapshot(['b']))
    assert.deepEqual(exporting.calls(), ['state', 'manifest'])
    assert.equal(exporting.last.expected, '"e7"')
    assert.deepEqual([report?.generation, report?.isConfirmation], [START + 2, false])
  })
})

describe('the version of a snapshot', () => {
  const written = ({ gateway }: Exporting): unknown => {
    const { version } = JSON.parse(new TextDecoder().decode(gateway.manifests.at(-1)?.bytes))
    return version
  }

  test('is the newest that the gateway reads, and another one is a later generation', async () => {
    const exporting = new Exporting({ versions: [1, 2] })
    const first = await exporting.publish(snapshot(['a']))
    assert.equal(written(exporting), 1)
    // The response to it came from an upgraded gateway.
    exporting.gateway.versions = [1, 2, 3]
    const second = await exporting.publish(snapshot(['a']), START_MS + 1)
    assert.equal(written(exporting), 2)
    assert.deepEqual([first?.generation, second?.generation], [START, START + 1])
    assert.equal(second?.isConfirmation, false)
    const third = await exporting.publish(snapshot(['a']), START_MS + 2)
    assert.deepEqual([third?.generation, third?.isConfirmation], [START + 1, true])
  })

  test('follows a gateway that is rolled back, after the one that it refuses', async () => {
    const exporting = new Exporting({ versions: [1, 2] })
    exporting.gateway.versions = [1, 2]
    await exporting.publish(snapshot(['a']))
    assert.equal(written(exporting), 2)
    exporting.gateway.answer(new GatewayError('The gateway answers 400: …', 400))
    await assert.rejects(exporting.publish(snapshot(['b'])), { status: 400 })
    exporting.gateway.versions = [1]
    await exporting.publish(snapshot(['b']))
    assert.equal(written(exporting), 1)
  })

  test('must be one that both know', async () => {
    const exporting = new Exporting({ versions: [2, 3] })
    await assert.rejects(exporting.publish(snapshot(['a'])), {
      name: 'GatewayError',
      message:
        'The gateway reads snapshots of version 1, this exporter writes 2, 3; upgrade the gateway',
    })
    assert.deepEqual(exporting.calls(), ['state'])
  })
})
