import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { Heap } from '../../../src/server/sockets/heap.ts'

type Member = { rank: number }

test('the first member of a heap has the lowest rank after any change', () => {
  const step = fc.tuple(fc.constantFrom('add', 'delete', 'change'), fc.nat(), fc.nat({ max: 20 }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const heap = new Heap<Member>((a, b) => a.rank < b.rank)
      const all: Member[] = []
      for (const [event, pick, rank] of steps) {
        const member = all[pick % all.length]
        if (event === 'add') heap.add(all[all.push({ rank }) - 1] ?? { rank })
        else if (member === undefined) continue
        else if (event === 'delete') heap.delete(all.splice(all.indexOf(member), 1)[0] ?? member)
        else {
          member.rank = rank
          heap.changed(member)
        }
        assert.equal(heap.size, all.length)
        assert.equal(heap.first?.rank ?? Infinity, Math.min(...all.map((one) => one.rank)))
      }
    }),
  )
})

test('a change takes O(log n) comparisons', () => {
  let comparisons = 0
  const heap = new Heap<Member>((a, b) => {
    comparisons++
    return a.rank < b.rank
  })
  const members = Array.from({ length: 4096 }, (_, i) => ({ rank: (i * 2654435761) % 4096 }))
  for (const member of members) heap.add(member)
  const most = (work: (member: Member) => void): number => {
    const counts = members.slice(0, 2000).map((member) => {
      comparisons = 0
      work(member)
      return comparisons
    })
    return Math.max(...counts)
  }
  const moved = most((member) => {
    member.rank = 4096 - member.rank
    heap.changed(member)
  })
  const removed = most((member) => heap.delete(member))
  // Two comparisons per level down, one per level up, and one final check each.
  const bound = 2 * Math.log2(4096) + 2
  assert.ok(moved <= bound && removed <= bound, `${moved}, ${removed}`)
})
