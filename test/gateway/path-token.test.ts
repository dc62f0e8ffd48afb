import assert from 'node:assert/strict'
import { test } from 'vitest'
import { splitTokenPath } from '../../src/gateway/path-token.ts'

const CASES: readonly [path: string, token: string | undefined, route: string][] = [
  ['/dns-query?dns=AA', undefined, '/dns-query?dns=AA'],
  ['/t/kdt_a_b/dns-query?dns=AA', 'kdt_a_b', '/dns-query?dns=AA'],
  ['/t//dns-query', '', '/dns-query'],
  ['/t/kdt_a_b', undefined, '/t/kdt_a_b'],
  ['/t/../t/kdt_a_b/dns-query', '..', '/t/kdt_a_b/dns-query'],
  ['/T/kdt_a_b/dns-query', undefined, '/T/kdt_a_b/dns-query'],
]

for (const [path, token, route] of CASES) {
  test(`splits ${path}`, () => {
    const found = splitTokenPath(path)
    assert.deepEqual([found.token, path.slice(found.routeStart)], [token, route])
  })
}
