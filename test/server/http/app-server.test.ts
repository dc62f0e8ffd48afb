import assert from 'node:assert/strict'
import { describe, it, vi } from 'vitest'
import type { TlsService } from '../../../src/resolver/contract/feature.ts'
import { createAppServer } from '../../../src/server/http/app-server.ts'
import { FetchServer } from '../../../src/server/http/fetch-server.ts'
import { HttpServer } from '../../../src/server/http/http-server.ts'
import { SERVER } from '../../certificates.ts'

const APP = { fetch: () => new Response() }
const TLS: TlsService = { ...SERVER, clientAuth: 'nocert' }
const direct = (): undefined => undefined

describe('createAppServer', () => {
  it("takes the runtime's own server where there is one", () => {
    assert.ok(createAppServer(APP, { direct, tls: TLS }) instanceof HttpServer)
    vi.stubGlobal('Bun', { serve: () => ({}) })
    try {
      assert.ok(createAppServer(APP, { direct, tls: TLS }) instanceof FetchServer)
      assert.ok(createAppServer(APP, { direct, bounds: () => ({}) }) instanceof FetchServer)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  const cases = {
    'client certificates': { tls: { ...TLS, clientAuth: 'request' } as const },
    'a bound of connections': { connectionsMax: 10 },
    timeouts: { bounds: () => ({ readMs: 5000 }) },
  }
  for (const [what, options] of Object.entries(cases)) {
    it(`takes Node's modules for ${what}`, () => {
      vi.stubGlobal('Bun', { serve: () => ({}) })
      try {
        assert.ok(createAppServer(APP, { direct, ...options }) instanceof HttpServer)
      } finally {
        vi.unstubAllGlobals()
      }
    })
  }
})
