import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { concatBytes } from '../../../../src/dns/bytes/bytes.ts'
import { formatName, nameOf, ROOT } from '../../../../src/dns/names/name.ts'
import {
  podLabel,
  relativeName,
  spellPort,
} from '../../../../src/resolver/plugins/kubernetes/spellings.ts'
import { wireLabel } from '../../../generators.ts'
import { queryFor, queryOf } from './view.ts'

/** A question for a name in the root zone, so that all of its labels are below the zone. */
function spelled(text: string): string | undefined {
  const query = queryOf(`${text} A`)
  const into = relativeName()
  if (!spellPort(query, query.labelCount, into)) return undefined
  return formatName(concatBytes(into.bytes.slice(0, into.size), ROOT))
}

describe('spellPort', () => {
  const label62 = 'x'.repeat(62)
  const cases: { name: string; text: string; wanted: string | undefined }[] = [
    {
      name: 'adds both underscores',
      text: 'http.tcp.web.shop.svc',
      wanted: '_http._tcp.web.shop.svc.',
    },
    { name: 'adds the first', text: 'http._tcp.web.shop.svc', wanted: '_http._tcp.web.shop.svc.' },
    { name: 'adds the second', text: '_http.tcp.web.shop.svc', wanted: '_http._tcp.web.shop.svc.' },
    {
      name: 'adds that of a protocol alone',
      text: 'tcp.web.shop.svc',
      wanted: '_tcp.web.shop.svc.',
    },
    {
      name: 'folds letter case',
      text: 'HTTP.Tcp.web.shop.SVC',
      wanted: '_http._tcp.web.shop.svc.',
    },
    { name: 'has nothing to add', text: '_http._tcp.web.shop.svc', wanted: undefined },
    { name: 'has nothing to add to a protocol', text: '_tcp.web.shop.svc', wanted: undefined },
    { name: 'passes over a Service', text: 'web.shop.svc', wanted: undefined },
    { name: 'passes over six labels', text: 'a.b.c.web.shop.svc', wanted: undefined },
    { name: 'passes over Pods', text: 'a.b.10-0-0-1.shop.pod', wanted: undefined },
    { name: 'passes over other trees of three letters', text: 'a.b.c.d.svd', wanted: undefined },
    { name: 'passes over a longer last label', text: 'a.b.c.d.svcs', wanted: undefined },
    {
      name: 'has room in 62 bytes',
      text: `${label62}.tcp.web.shop.svc`,
      wanted: `_${label62}._tcp.web.shop.svc.`,
    },
    { name: 'has no room in 63 bytes', text: `x${label62}.tcp.web.shop.svc`, wanted: undefined },
  ]
  for (const { name, text, wanted } of cases) {
    test(name, () => {
      assert.equal(spelled(text), wanted)
    })
  }

  test('writes one label at least with its underscore, never over 255 bytes', () => {
    const labels = fc.tuple(wireLabel(), wireLabel(), wireLabel(), wireLabel())
    fc.assert(
      fc.property(labels, (four) => {
        const wire = concatBytes(
          ...four.map((label) => concatBytes(Uint8Array.of(label.length), label)),
          nameOf('svc'),
        )
        if (wire.length > 255) return
        const query = queryFor(wire)
        const into = relativeName()
        if (!spellPort(query, 5, into)) return
        const text = formatName(concatBytes(into.bytes.slice(0, into.size), ROOT))
        assert.match(text, /^_/)
        assert.ok(into.size < 255)
        assert.ok(nameOf(text).length > wire.length)
      }),
    )
  })
})

describe('podLabel', () => {
  const cases: { name: string; text: string; label: number }[] = [
    { name: 'is the first', text: '10-0-0-1.shop.pod', label: 0 },
    { name: 'is the second after another', text: 'x.10-0-0-1.shop.pod', label: 1 },
    { name: 'is the third after two others', text: 'y.x.10-0-0-1.shop.pod', label: 2 },
    { name: 'is none after three others', text: 'z.y.x.10-0-0-1.shop.pod', label: -1 },
    { name: 'is none in a namespace itself', text: 'shop.pod', label: -1 },
    { name: 'is none among Services', text: 'x.shop.svc', label: -1 },
    { name: 'is none in a tree of another name', text: 'x.shop.pods', label: -1 },
  ]
  for (const { name, text, label } of cases) {
    test(name, () => {
      const query = queryOf(`${text} A`)
      assert.equal(podLabel(query, query.labelCount), label)
    })
  }
})
