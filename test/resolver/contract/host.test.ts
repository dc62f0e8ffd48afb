import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatName } from '../../../src/dns/names/name.ts'
import { block, directive, serve } from '../../ask.ts'
import { FakeHost, START_MS, settle } from '../../fake-host.ts'

/** Every plugin that does things beside answering. */
const BUSY = block(
  directive('hosts hosts', 'reload 1s', 'fallthrough'),
  directive('kubernetes cluster.local 192.0.2.0/24', 'cluster prod', 'fallthrough'),
  'loop',
  'forward . 192.0.2.53',
  'log',
  'errors',
)
const CLUSTER = { objects: '[]' }
const FILES = { hosts: '' }

describe('what plugins ask of their runtime', () => {
  test('is no time, no upstream and no line before they are started', async () => {
    const { host } = serve(BUSY, { cluster: CLUSTER, files: FILES })
    await settle()
    assert.equal(host.timerCount, 0)
    assert.deepEqual([host.asked, host.lines, host.events, host.aborts], [[], [], [], []])
  })

  test('is nothing any more once they are stopped', async () => {
    const server = serve(BUSY, { cluster: CLUSTER, files: FILES })
    server.resolver.start()
    assert.ok(server.host.timerCount > 0)
    await server.host.advance(60_000)
    server.resolver.stop()
    await server.host.advance(60_000)
    assert.equal(server.host.timerCount, 0)
  })

  test('is one cluster for each directive, opened with what that says', () => {
    const { opened } = serve(BUSY, { cluster: CLUSTER, files: FILES }).host
    assert.deepEqual(
      opened.map(({ zones, cluster }) => [zones.map((zone) => formatName(zone)), cluster]),
      [[['cluster.local.', '2.0.192.in-addr.arpa.'], 'prod']],
    )
  })
})

describe('the runtime of these tests', () => {
  test('runs tasks in the order of their time, once each', async () => {
    const host = new FakeHost()
    const seen: [string, number][] = []
    const note = (name: string) => () => {
      seen.push([name, host.now() - START_MS])
    }
    host.after(20, note('b'))
    host.after(10, () => {
      note('a')()
      host.after(5, note('c'))
    })
    host.after(15, note('never'))()
    host.after(30, note('late'))
    await host.advance(29)
    assert.deepEqual(seen, [
      ['a', 10],
      ['c', 15],
      ['b', 20],
    ])
    await host.advance(1000)
    assert.equal(seen.length, 4)
    assert.equal(host.now() - START_MS, 1029)
  })

  test('draws numbers that repeat with the seed and spread over 16 bits', () => {
    const draw = (seed: number): number[] => {
      const { random16 } = new FakeHost({ seed })
      return Array.from({ length: 1000 }, random16)
    }
    assert.deepEqual(draw(1), draw(1))
    assert.notDeepEqual(draw(1), draw(2))
    assert.ok(new Set(draw(1)).size > 980)
    assert.ok(draw(1).every((value) => Number.isInteger(value) && 0 <= value && value < 65536))
  })
})
