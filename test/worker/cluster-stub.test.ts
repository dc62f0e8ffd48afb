import assert from 'node:assert/strict'
import { test } from 'vitest'
import { OriginOverloadError } from '../../src/gateway/snapshots/snapshot-loader.ts'
import { type ClusterObjects, ClusterStub } from '../../worker/cluster-stub.ts'

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
  return { stub: new ClusterStub(objects, IDENTITY), calls }
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

const FAILURES: readonly [marks: object, isOverload: boolean][] = [
  [{ remote: true, overloaded: true }, true],
  [{ remote: true, overloaded: true, retryable: true }, true],
  [{ remote: true, retryable: true }, false],
  [{ remote: true }, false],
]

for (const [marks, isOverload] of FAILURES) {
  test(`a read that fails with ${JSON.stringify(marks)}`, async () => {
    const failure = Object.assign(new Error('Durable Object is overloaded'), marks)
    const fail = (): Promise<never> => Promise.reject(failure)
    const objects: ClusterObjects = Object.create({
      getByName: () => ({ readManifest: fail, readShard: fail }),
    })
    const stub = new ClusterStub(objects, IDENTITY)
    for (const read of [stub.readManifest, () => stub.readShard('hash')]) {
      const error = await read().catch((thrown: unknown) => thrown)
      assert.ok(error instanceof Error)
      assert.equal(error instanceof OriginOverloadError, isOverload)
      assert.equal(error.message, failure.message)
      assert.equal(isOverload ? error.cause : error, failure)
    }
  })
}
