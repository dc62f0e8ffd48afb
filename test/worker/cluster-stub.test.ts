import assert from 'node:assert/strict'
import { test } from 'vitest'
import { type ClusterObjects, ClusterStub, readIdentity } from '../../worker/cluster-stub.ts'

const IDENTITY = { cluster: 'shop', publicKey: 'key' }
const BYTES = Uint8Array.of(1)

/** Records which method of which object is called with what. */
function recordCalls(): { readonly stub: ClusterStub; readonly calls: unknown[] } {
  const calls: unknown[] = []
  const getByName = (name: string): object =>
    new Proxy(
      {},
      {
        get:
          (_, method) =>
          (...values: unknown[]): void => {
            calls.push([name, method, ...values])
          },
      },
    )
  const objects: ClusterObjects = Object.create({ getByName })
  return {
    stub: new ClusterStub(
      objects,
      () => IDENTITY,
      () => () => undefined,
    ),
    calls,
  }
}

test('each call goes to a new stub of the cluster, with its identity', async () => {
  const { stub, calls } = recordCalls()
  await stub.readManifest()
  await stub.readShard('hash')
  await stub.putShard('hash', BYTES)
  await stub.putManifest(BYTES, 'signature', 'etag')
  await stub.putPublication(BYTES, 'signature', 'etag')
  await stub.pin(7)
  await stub.history()
  assert.equal(await stub.state(), undefined)
  assert.deepEqual(calls, [
    ['shop', 'readManifest', IDENTITY],
    ['shop', 'readShard', IDENTITY, 'hash'],
    ['shop', 'putShard', IDENTITY, 'hash', BYTES],
    ['shop', 'putManifest', IDENTITY, BYTES, 'signature', 'etag'],
    ['shop', 'putPublication', IDENTITY, BYTES, 'signature', 'etag'],
    ['shop', 'pin', IDENTITY, 7],
    ['shop', 'history', IDENTITY],
    ['shop', 'state', IDENTITY],
  ])
})

test('a follower says its cluster with one key, as earlier versions do, or with all', () => {
  const all = { ...IDENTITY, publicKeys: ['key', 'old'] }
  assert.deepEqual(readIdentity(JSON.stringify(IDENTITY)), IDENTITY)
  assert.deepEqual(readIdentity(JSON.stringify(all)), all)
  assert.deepEqual(readIdentity(JSON.stringify({ ...IDENTITY, publicKeys: 7 })), IDENTITY)
  assert.throws(() => readIdentity('{"cluster":"shop"}'), /has no cluster/)
})
