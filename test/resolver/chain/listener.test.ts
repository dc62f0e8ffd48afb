import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { formatName, isSubdomain, joinName, nameOf, ROOT } from '../../../src/dns/names/name.ts'
import { TYPE } from '../../../src/dns/names/rr-type.ts'
import { parseQuery, type Query } from '../../../src/dns/wire/query.ts'
import { writeQuery } from '../../../src/dns/wire/write-query.ts'
import { findChain } from '../../../src/resolver/chain/listener.ts'
import type { Client } from '../../../src/resolver/contract/client.ts'
import { serve } from '../../ask.ts'
import { wireName } from '../../generators.ts'

const CLIENT: Client = { address: '192.0.2.7', port: 4242, transport: 'udp' }
// Each block forwards to an upstream of its own, so that the upstream tells which block it was.
const BLOCKS = `
example.org {
  forward . 192.0.2.1
}
sub.example.org {
  forward . 192.0.2.2
}
`
const BLOCKS_WITH_ROOT = `${BLOCKS}
. {
  forward . 192.0.2.3
}
`

describe('findChain', () => {
  const cases: { name: string; corefile: string; ask: string; goesTo: string | undefined }[] = [
    {
      name: 'takes the block of the zone that the name is in',
      corefile: BLOCKS,
      ask: 'www.example.org A',
      goesTo: '192.0.2.1:53',
    },
    {
      name: 'takes the longest zone, wherever it is in the file',
      corefile: BLOCKS,
      ask: 'www.sub.example.org A',
      goesTo: '192.0.2.2:53',
    },
    {
      name: 'takes the zone itself',
      corefile: BLOCKS,
      ask: 'sub.example.org A',
      goesTo: '192.0.2.2:53',
    },
    {
      name: 'does not mind letter case',
      corefile: BLOCKS,
      ask: 'WWW.Sub.EXAMPLE.org A',
      goesTo: '192.0.2.2:53',
    },
    {
      name: 'does not take a zone that ends within a label',
      corefile: BLOCKS,
      ask: 'www.xsub.example.org A',
      goesTo: '192.0.2.1:53',
    },
    {
      name: 'takes the root for what is in no other zone',
      corefile: BLOCKS_WITH_ROOT,
      ask: 'www.example.net A',
      goesTo: '192.0.2.3:53',
    },
    {
      name: 'takes the root for the root',
      corefile: BLOCKS_WITH_ROOT,
      ask: '. NS',
      goesTo: '192.0.2.3:53',
    },
    {
      name: 'finds no block without one for the name',
      corefile: BLOCKS,
      ask: 'www.example.net A',
      goesTo: undefined,
    },
    {
      name: 'takes the parent for the DS record of a zone',
      corefile: BLOCKS,
      ask: 'sub.example.org DS',
      goesTo: '192.0.2.1:53',
    },
    {
      name: 'takes the zone for a DS record below its apex',
      corefile: BLOCKS,
      ask: 'www.sub.example.org DS',
      goesTo: '192.0.2.2:53',
    },
    {
      name: 'takes the zone for its DS record when the parent is not here',
      corefile: BLOCKS,
      ask: 'example.org DS',
      goesTo: '192.0.2.1:53',
    },
    {
      name: 'takes the zone for its DS record when the root is the only parent here',
      corefile: BLOCKS_WITH_ROOT,
      ask: 'example.org DS',
      goesTo: '192.0.2.1:53',
    },
  ]
  for (const { name, corefile, ask, goesTo } of cases) {
    test(name, async () => {
      const server = serve(corefile, { upstream: () => ['NOERROR ra'] })
      await server.ask(ask)
      assert.deepEqual(
        server.host.asked.map(({ upstream }) => upstream),
        goesTo === undefined ? [] : [goesTo],
      )
    })
  }

  test('takes the first block of a zone that admits the query', () => {
    const [listener] = serve('. {\n whoami\n}').resolver.listeners
    const chain = listener?.zones[0]?.chain
    assert.ok(listener && chain)
    const only = (type: number) => ({ ...chain, admits: (query: Query) => query.type === type })
    const [forA, forMx] = [only(TYPE.A), only(TYPE.MX)]
    const zones = [forA, forMx, chain].map((one) => ({ zone: ROOT, chain: one }))
    const found = (type: number, served = zones): unknown => {
      const query = parseQuery(writeQuery({ name: nameOf('a.example.org'), type }))
      assert.ok(query.kind === 'query')
      return findChain({ ...listener, zones: served }, query, CLIENT)
    }
    assert.equal(found(TYPE.A), forA)
    assert.equal(found(TYPE.MX), forMx)
    assert.equal(found(TYPE.TXT), chain)
    assert.equal(found(TYPE.TXT, zones.slice(0, 2)), undefined)
  })

  test('takes the longest of any zones that a name is in', () => {
    const parents = ['a.example.org', 'b.a.example.org', 'example.org', 'org', 'example.net']
    const corefile = parents.map((zone) => `${zone} {\n  whoami\n}\n`).join('')
    const [listener] = serve(corefile).resolver.listeners
    assert.ok(listener)
    const origins = [...parents.map((zone) => nameOf(zone)), ROOT]
    fc.assert(
      fc.property(wireName({ bytesMax: 200 }), fc.constantFrom(...origins), (labels, origin) => {
        const name = joinName(labels.subarray(0, -1), origin)
        assert.ok(name)
        const query = parseQuery(writeQuery({ name, type: TYPE.A }))
        assert.equal(query.kind, 'query')
        if (query.kind !== 'query') return
        const chain = findChain(listener, query, CLIENT)
        const found = listener.zones.find((zone) => zone.chain === chain)?.zone
        const above = origins.slice(0, -1).filter((zone) => isSubdomain(name, zone))
        const longest = above.sort((a, b) => b.length - a.length)[0]
        assert.equal(found && formatName(found), longest && formatName(longest))
      }),
    )
  })
})
