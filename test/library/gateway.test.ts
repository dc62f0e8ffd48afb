import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { nameOf, parseResponse, RCODE, TYPE, writeQuery } from '../../src/library/dns.ts'
import { createGateway, GatewayConfigError } from '../../src/library/gateway.ts'

const COREFILE = '. {\n  hosts {\n    192.0.2.1 web.test\n  }\n}\n'

describe('createGateway', () => {
  it('answers requests of another program', async () => {
    const gateway = await createGateway({ COREFILE, PUBLIC: 'true' })
    try {
      const body = writeQuery({ name: nameOf('web.test.'), type: TYPE.A })
      const headers = { 'content-type': 'application/dns-message' }
      const request = new Request('https://doh.test/dns-query', { method: 'POST', body, headers })
      const response = await gateway.fetch(request, '203.0.113.7')
      const reply = parseResponse(new Uint8Array(await response.arrayBuffer()))
      assert.equal(reply?.rcode, RCODE.NOERROR)
      assert.deepEqual(reply?.answer[0]?.rdata, Uint8Array.of(192, 0, 2, 1))
    } finally {
      await gateway.close()
    }
  })

  it('refuses bad variables', async () => {
    await assert.rejects(createGateway({ COREFILE, STALE_SECONDS: 'x' }), GatewayConfigError)
  })
})
