import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { parseKubernetes } from '../../../../src/corefile/kubernetes-options.ts'
import { nameOf } from '../../../../src/dns/names/name.ts'
import { parseQuery, Query } from '../../../../src/dns/wire/query.ts'
import { visibilityOf } from '../../../../src/gateway/access/token.ts'
import { explainService } from '../../../../src/resolver/plugins/k8s-external/explain.ts'
import { Visibility } from '../../../../src/snapshot/read/visibility.ts'
import { parseDirective } from '../../../ask.ts'
import { openFakeCluster } from '../../../fake-cluster.ts'
import { WHOLE_SCOPE } from '../../../gateway/whole-scope.ts'
import { parseQuestion } from '../../../message-text.ts'
import { OUTSIDE } from './objects.ts'

const ORIGIN = nameOf('ext.test')
const OPTIONS = parseKubernetes(parseDirective('kubernetes'), [nameOf('cluster.local')])

async function nodeOf(name: string, isSeen = true): Promise<unknown> {
  const query = parseQuery(parseQuestion(`${name} A`).message, new Query())
  assert.ok(query.kind === 'query')
  const tree = { kind: 'external', ttlSeconds: 5, hasEndpoints: false } as const
  const source = openFakeCluster({ objects: OUTSIDE, tree }, OPTIONS, [])
  const visibility = { ...visibilityOf(WHOLE_SCOPE), namespaces: new Visibility(() => isSeen) }
  const place = { origin: ORIGIN, source, cluster: undefined, visibility }
  const [fact] = await explainService(query, place)
  assert.equal(fact?.tree, 'external')
  return fact?.node
}

describe('explainService', () => {
  const object = 'Service shop/web'
  const cases: { name: string; isSeen?: boolean; object: string | null | undefined }[] = [
    { name: 'web.shop.ext.test', object },
    { name: 'any.WEB.shop.ext.test', object },
    { name: 'shop.ext.test', object: 'Namespace shop' },
    { name: 'ext.test', object: null },
    { name: 'none.shop.ext.test', object: undefined },
    { name: 'web.shop.ext.test', isSeen: false, object: undefined },
  ]
  for (const { name, isSeen, object: expected } of cases) {
    test(`finds ${expected} for ${name}${isSeen === false ? ', hidden' : ''}`, async () => {
      const node = await nodeOf(name, isSeen)
      const found = typeof node === 'object' && node !== null && 'object' in node
      assert.equal(found ? node.object : undefined, expected)
    })
  }
})
