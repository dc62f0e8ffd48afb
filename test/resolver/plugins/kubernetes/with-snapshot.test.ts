import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { RCODE } from '../../../../src/dns/names/rcode.ts'
import { EMPTY_REPLY } from '../../../../src/dns/wire/message.ts'
import type { SnapshotSource } from '../../../../src/resolver/contract/host.ts'
import {
  isComplete,
  negativeFrom,
  withShards,
  withSnapshot,
} from '../../../../src/resolver/plugins/kubernetes/with-snapshot.ts'
import { findName } from '../../../../src/snapshot/read/find-name.ts'
import { parseDirective } from '../../../ask.ts'
import { type FakeClusterOptions, openFakeCluster } from '../../../fake-cluster.ts'
import { SHOP } from './objects.ts'

function sourceOf(options: Partial<FakeClusterOptions>): SnapshotSource {
  const directive = parseKubernetes(parseDirective('kubernetes cluster.local'), [])
  return openFakeCluster({ objects: SHOP, ...options }, directive, [])
}

const OWN = { ...EMPTY_REPLY, origin: 'snapshot' } as const

describe('withShards', () => {
  const serveFrom = async (presence: FakeClusterOptions['presence']): Promise<string> => {
    const source = sourceOf({ shardCount: 8, ...(presence && { presence }) })
    const find = withShards(
      source,
      (snapshot) => {
        const found = ['web.shop.svc', 'none.shop.svc'].map((name) =>
          findName(snapshot, nameOf(name).subarray(0, -1)),
        )
        return found.map((one) => (one === undefined ? 'absent' : 'found')).join()
      },
      () => 'unavailable',
    )
    const snapshot = source.current()
    assert.ok(snapshot)
    return find(snapshot)
  }

  test('serves again after each shard that is missing', async () => {
    assert.equal(await serveFrom('here'), 'found,absent')
    assert.equal(await serveFrom('shards-later'), 'found,absent')
  })

  test('gives up when a shard cannot be loaded, or is missing again and again', async () => {
    assert.equal(await serveFrom('shards-never'), 'unavailable')
    assert.equal(await serveFrom('shards-lost'), 'unavailable')
  })

  test('throws what else is wrong', () => {
    const source = sourceOf({})
    const fail = withShards(
      source,
      () => {
        throw new RangeError('no')
      },
      () => undefined,
    )
    assert.throws(() => fail(source.current() ?? assert.fail()), RangeError)
  })
})

describe('withSnapshot', () => {
  test('answers at once from what is at hand', () => {
    assert.deepEqual(
      withSnapshot(sourceOf({}), () => OWN),
      OWN,
    )
  })

  test('loads what is not', async () => {
    assert.deepEqual(await withSnapshot(sourceOf({ presence: 'later' }), () => OWN), OWN)
  })

  test('fails without a snapshot', async () => {
    const outcome = await withSnapshot(sourceOf({ presence: 'never' }), () => OWN)
    assert.equal(outcome.kind === 'failure' && outcome.rcode, RCODE.SERVFAIL)
  })

  test('fails when the snapshot has become too old in the meantime', async () => {
    let freshness: ReturnType<SnapshotSource['freshness']> = 'stale'
    const source: SnapshotSource = { ...sourceOf({}), freshness: () => freshness }
    const serve = <T>(outcome: T): T => {
      freshness = 'expired'
      return outcome
    }
    const outcome = await withSnapshot(source, () => serve(OWN))
    assert.equal(outcome.kind === 'failure' && outcome.rcode, RCODE.SERVFAIL)
    freshness = 'fresh'
    assert.equal(await withSnapshot(source, () => serve(EMPTY_REPLY)), EMPTY_REPLY)
  })

  test('remarks on old names only, and on replies of its own only', async () => {
    const options = async (some: Partial<FakeClusterOptions>, reply = OWN): Promise<number> => {
      const outcome = await withSnapshot(sourceOf(some), () => reply)
      return outcome.kind === 'reply' ? outcome.options.length : -1
    }
    assert.equal(await options({ freshness: 'stale' }), 1)
    assert.equal(await options({ freshness: 'partial' }), 0)
    const foreign = await withSnapshot(sourceOf({ freshness: 'stale' }), () => EMPTY_REPLY)
    assert.deepEqual(foreign, EMPTY_REPLY)
  })
})

test('a negative response is given only when the cluster is read completely', () => {
  assert.equal(negativeFrom(sourceOf({}), OWN).rcode, RCODE.NXDOMAIN)
  assert.equal(negativeFrom(sourceOf({ freshness: 'stale' }), OWN).rcode, RCODE.NXDOMAIN)
  assert.equal(negativeFrom(sourceOf({ freshness: 'unserved' }), OWN).rcode, RCODE.SERVFAIL)
  const early = negativeFrom(sourceOf({ freshness: 'partial' }), OWN)
  assert.deepEqual([early.rcode, early.options.length], [RCODE.SERVFAIL, 1])
})

test('a source is whole when there is a snapshot of all', () => {
  const options: Partial<FakeClusterOptions>[] = [
    {},
    { freshness: 'stale' },
    { freshness: 'partial' },
    { presence: 'never' },
  ]
  assert.deepEqual(
    options.map((some) => isComplete(sourceOf(some))),
    [true, true, false, false],
  )
})
