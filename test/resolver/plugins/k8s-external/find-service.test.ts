import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf, parseRelativeName, ROOT } from '../../../../src/dns/names/name.ts'
import { findExternalService } from '../../../../src/resolver/plugins/k8s-external/service-reply.ts'
import { parseDirective } from '../../../ask.ts'
import { buildFakeSnapshot } from '../../../fake-cluster.ts'
import { OUTSIDE } from './objects.ts'

const directive = parseKubernetes(parseDirective('kubernetes'), [nameOf('cluster.local')])
const snapshotWith = (hasEndpoints: boolean): ReturnType<typeof buildFakeSnapshot> =>
  buildFakeSnapshot(
    { objects: OUTSIDE, tree: { kind: 'external', ttlSeconds: 5, hasEndpoints } },
    directive,
  )

/** The name that one stands for, '' for none. */
function found(name: string, hasEndpoints = false): string {
  const result = findExternalService(
    { snapshot: snapshotWith(hasEndpoints), namespaces: undefined },
    parseRelativeName(name) ?? new Uint8Array(),
  )
  if (result === undefined) return ''
  const { shard, node } = result
  const start = shard.nameOffset(node)
  const labels = shard.bytes.slice(start, start + shard.nameBytes(node))
  return formatName(concatBytes(labels, ROOT)).slice(0, -1)
}

describe('findService', () => {
  const cases: { name: string; is: string; withEndpoints?: string }[] = [
    { name: 'shop', is: 'shop' },
    { name: 'none', is: '' },
    { name: 'web.shop', is: 'web.shop' },
    { name: 'inside.shop', is: '' },
    { name: 'anything.web.shop', is: 'web.shop' },
    { name: '_anything.web.shop', is: 'web.shop' },
    { name: '_tcp.web.shop', is: 'web.shop' },
    { name: 'x.none.shop', is: '' },
    { name: '_http._tcp.web.shop', is: '_http._tcp.web.shop' },
    { name: 'http.tcp.web.shop', is: '_http._tcp.web.shop' },
    { name: 'http._tcp.web.shop', is: '_http._tcp.web.shop' },
    { name: '_none._tcp.web.shop', is: '' },
    { name: 'a._http._tcp.web.shop', is: '' },
    { name: 'db.shop', is: '', withEndpoints: 'db.shop' },
    { name: 'db-0.db.shop', is: '', withEndpoints: 'db-0.db.shop' },
    { name: '_db-0.db.shop', is: '', withEndpoints: 'db-0.db.shop' },
    { name: 'db-1.db.shop', is: '' },
    { name: '_tcp.db.shop', is: '' },
    { name: '_.db.shop', is: '' },
    { name: 'sql.tcp.db.shop', is: '', withEndpoints: '_sql._tcp.db.shop' },
    { name: '198-51-100-53.dns.shop', is: 'dns.shop' },
  ]
  for (const { name, is, withEndpoints = is } of cases) {
    test(`${name} is ${is || 'nothing'}, with endpoints ${withEndpoints || 'nothing'}`, () => {
      assert.equal(found(name), is)
      assert.equal(found(name, true), withEndpoints)
    })
  }
})
