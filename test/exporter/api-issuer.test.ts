import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { ApiError } from '../../src/cluster/api/object-api.ts'
import { ApiIssuer } from '../../src/exporter/api-issuer.ts'

const ISSUER = 'https://kubernetes.default.svc'

/** An API server, and the issuer that is read from it as often as there are answers. */
class Reading {
  keys: unknown = [{ kty: 'RSA', kid: 'one', n: 'n', e: 'AQAB' }]
  failure: ApiError | undefined
  changes = 0
  readonly errors: string[] = []
  readonly asked: string[] = []
  private readonly ended = new AbortController()
  readonly issuer = new ApiIssuer({
    api: {
      send: async ({ path }) => {
        this.asked.push(path)
        if (this.failure !== undefined) throw this.failure
        return path === '/openid/v1/jwks' ? { keys: this.keys } : { issuer: ISSUER, jwks_uri: 'x' }
      },
    },
    sleep: async () => {
      const next = this.changesToMake.shift()
      if (next === undefined) this.ended.abort()
      else next()
    },
    onChange: () => this.changes++,
    onError: (message) => this.errors.push(message),
  })
  /** What happens before each further attempt. */
  private changesToMake: (() => unknown)[] = []

  async run(...changes: (() => unknown)[]): Promise<void> {
    this.changesToMake = changes
    await this.issuer.run(this.ended.signal)
  }
}

describe('ApiIssuer', () => {
  test('reads the issuer and its keys, and says when they change', async () => {
    const reading = new Reading()
    await reading.run(
      () => undefined,
      () => {
        reading.keys = [{ kty: 'EC', kid: 'two', crv: 'P-256', x: 'x', y: 'y' }]
      },
    )
    const paths = ['/.well-known/openid-configuration', '/openid/v1/jwks']
    assert.deepEqual(reading.asked, [...paths, ...paths, ...paths])
    assert.equal(reading.changes, 2)
    assert.deepEqual(reading.issuer.current, { issuer: ISSUER, keys: reading.keys })
  })

  test('keeps them while the API server is away, and says so once', async () => {
    const reading = new Reading()
    await reading.run(
      () => {
        reading.failure = new ApiError('503 away', 503)
      },
      () => undefined,
    )
    assert.equal(reading.issuer.current?.issuer, ISSUER)
    assert.deepEqual(reading.errors, ['cannot publish the keys of ServiceAccount tokens: 503 away'])
  })

  test('publishes none where the API server has none', async () => {
    const reading = new Reading()
    reading.keys = 'none'
    await reading.run()
    assert.deepEqual([reading.issuer.current, reading.changes], [undefined, 0])
  })
})
