import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { Namespace } from '../../../src/cluster/objects/objects.ts'
import {
  labelRecords,
  NAMESPACE_LABEL_BYTES_MAX,
  NAMESPACE_LABELS_MAX,
} from '../../../src/cluster/trees/namespace-labels.ts'

function namespace(name: string, labels: Readonly<Record<string, string>>): Namespace {
  return { kind: 'Namespace', namespace: '', name, labels: new Map(Object.entries(labels)) }
}

/** Entries as text: the owner, then each label's strings. */
function texts(...namespaces: readonly Namespace[]): string[] {
  return labelRecords(namespaces).entries.map(({ owner, rdata }) =>
    [owner, ...rdata.map(({ bytes }) => bytes)]
      .map((octets) => new TextDecoder('latin1').decode(octets))
      .join(' '),
  )
}

describe('labels of namespaces', () => {
  test('are sorted by name and key, in any order of the input', () => {
    const shop = namespace('shop', { team: 'shop', app: '' })
    const blog = namespace('blog', { team: 'web' })
    const wanted = ['\x04blog \x08team=web', '\x04shop \x04app= \x09team=shop']
    assert.deepEqual(texts(shop, blog), wanted)
    assert.deepEqual(texts(blog, shop), wanted)
  })

  test('do not exist for a namespace without any, or without a name in DNS', () => {
    assert.deepEqual(texts(namespace('shop', {}), namespace('x'.repeat(64), { a: 'b' })), [])
  })

  test('take more than one string when they are long', () => {
    const key = `${'k'.repeat(253)}/a`
    const [text = ''] = texts(namespace('shop', { [key]: 'b' }))
    assert.equal(text, `\x04shop \xff${key} \x02=b`.replace(' \x02', '\x02'))
  })

  test('are as many as fit; the rest gives a warning', () => {
    const many = Object.fromEntries(
      Array.from({ length: NAMESPACE_LABELS_MAX + 1 }, (_, i) => [
        `k${String(i).padStart(3, '0')}`,
        'v',
      ]),
    )
    const { entries, warnings } = labelRecords([namespace('shop', many)])
    assert.equal(entries[0]?.rdata.length, NAMESPACE_LABELS_MAX)
    assert.deepEqual(warnings, [
      'Namespace shop: more than 64 labels find no room in what tokens go by',
    ])
  })

  test('of a namespace are complete or absent, when they do not fit', () => {
    const labels = Object.fromEntries(
      Array.from({ length: NAMESPACE_LABELS_MAX }, (_, i) => [`${i}${'k'.repeat(200)}`, 'v']),
    )
    const bytes = 204 * NAMESPACE_LABELS_MAX
    const count = Math.ceil(NAMESPACE_LABEL_BYTES_MAX / bytes) + 1
    const all = Array.from({ length: count }, (_, i) => namespace(`n${1000 + i}`, labels))
    const { entries, warnings } = labelRecords(all)
    assert.ok(entries.length < count && entries.length + warnings.length === count)
    assert.match(warnings.at(-1) ?? '', /^Namespace n\d+: its labels find no room/)
  })
})
