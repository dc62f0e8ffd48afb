import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { formatAddress } from '../../../src/dns/address.ts'
import type { PodAddress, Pointer } from '../../../src/records/zone-entry.ts'
import { draftPointers } from '../../../src/snapshot/write/pointer-drafts.ts'
import { pointer } from '../entries.ts'

const yielding = (entry: Pointer): Pointer => ({ ...entry, isYielding: true })
const pod = (last: number, namespace: string): PodAddress => {
  return { kind: 'pod-address', address: Uint8Array.of(192, 0, 2, last), namespace }
}

function drafted(...entries: (Pointer | PodAddress)[]): string[] {
  return draftPointers(entries).map(({ address, namespace, set, isPod, isYielding }) => {
    const targets = set?.rdata.map(({ target = new Uint8Array(0) }) =>
      String.fromCharCode(...target.slice(1)),
    )
    return `${formatAddress(address)} ${namespace} ${targets?.join() ?? '-'}${isPod ? ' pod' : ''}${isYielding ? ' yielding' : ''}`
  })
}

describe('draftPointers', () => {
  const shop = { namespace: 'shop' }
  const cases: readonly { name: string; entries: (Pointer | PodAddress)[]; drafts: string[] }[] = [
    {
      name: 'sorts by address and namespace',
      entries: [
        pointer([192, 0, 2, 2], 'c'),
        pointer([192, 0, 2, 1], 'b', shop),
        pointer([192, 0, 2, 1], 'a', { namespace: 'blog' }),
      ],
      drafts: ['192.0.2.1 blog a', '192.0.2.1 shop b', '192.0.2.2  c'],
    },
    {
      name: 'joins the names of an address in order',
      entries: [pointer([192, 0, 2, 1], 'b', shop), pointer([192, 0, 2, 1], 'a', shop)],
      drafts: ['192.0.2.1 shop a,b'],
    },
    {
      name: 'lets those that yield be when there are no others',
      entries: [yielding(pointer([192, 0, 2, 1], 'a', shop)), pod(1, 'shop')],
      drafts: ['192.0.2.1 shop a pod'],
    },
    {
      name: 'marks those that yield to one of another namespace, and leaves out those of the same',
      entries: [
        yielding(pointer([192, 0, 2, 1], 'a', shop)),
        pod(1, 'shop'),
        pointer([192, 0, 2, 1], 'b', { namespace: 'blog' }),
        yielding(pointer([192, 0, 2, 1], 'd', { namespace: 'blog' })),
        yielding(pointer([192, 0, 2, 2], 'c', shop)),
      ],
      drafts: ['192.0.2.1 blog b', '192.0.2.1 shop a pod yielding', '192.0.2.2 shop c'],
    },
  ]
  for (const { name, entries, drafts } of cases) {
    test(name, () => {
      assert.deepEqual(drafted(...entries), drafts)
      assert.deepEqual(drafted(...entries.toReversed()), drafts)
    })
  }
})
