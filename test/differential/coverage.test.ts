import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { ALL_PLUGINS } from '../../src/resolver/plugins/all-plugins.ts'
import { listPlaces } from './place.ts'

/** Plugins that are compared with the original elsewhere, and where. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cookies: 'CoreDNS has none: test/resolver/plugins/cookies',
  grpc: 'upstreams by gRPC: test/clients/grpc.suite.ts',
  grpc_server: 'of blocks with gRPC: test/clients/grpc.suite.ts',
  https: 'of blocks with HTTPS: test/clients',
  proxyproto: 'headers of proxies: test/clients/proxyproto.suite.ts',
  tls: 'of blocks with TLS: test/clients',
  k8s_gateway: 'CoreDNS is built without it: recorded answers in test/resolver/plugins/k8s-gateway',
}

describe('the places of the comparison', () => {
  const corefiles = listPlaces().map(({ folder }) => readFileSync(join(folder, 'Corefile'), 'utf8'))
  const isCompared = (plugin: string): boolean =>
    corefiles.some((text) => new RegExp(`^    ${plugin}\\b`, 'm').test(text))

  for (const plugin of ALL_PLUGINS.keys()) {
    it(`have ${plugin}, or it is compared elsewhere`, () => {
      assert.notEqual(isCompared(plugin), plugin in ELSEWHERE)
    })
  }
})
