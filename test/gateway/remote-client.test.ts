import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { RemoteClient } from '../../src/gateway/remote-client.ts'
import { visibilityOf } from '../../src/gateway/token-visibility.ts'

describe('RemoteClient', () => {
  it('reads the address when it is wanted, and not before', () => {
    let reads = 0
    const client = new RemoteClient({
      get address() {
        reads++
        return '192.0.2.1'
      },
    })
    assert.equal(reads, 0)
    assert.equal(client.address, '192.0.2.1')
    assert.equal(reads, 1)
  })

  it('sees everything without a view', () => {
    const remote = { address: '192.0.2.1' }
    assert.equal(new RemoteClient(remote).visibility, undefined)
    const view = visibilityOf({
      clusters: ['*'],
      origins: ['*'],
      namespaces: ['shop'],
      recurse: false,
    })
    assert.equal(new RemoteClient(remote, view).visibility, view)
  })
})
