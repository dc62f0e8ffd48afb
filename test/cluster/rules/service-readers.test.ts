import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { RoleBinding } from '../../../src/cluster/objects/parse-rbac.ts'
import { firstRights, serviceReaders } from '../../../src/cluster/rules/service-readers.ts'
import { finish } from '../../../src/dns/bytes/steps.ts'
import type { Right } from '../../../src/snapshot/format/rights-table.ts'

const MASTERS: Right = { kind: 'group', name: 'system:masters', namespaces: 'all' }

/** Returns a binding from `NAMESPACE: SUBJECT …`, with `*` for all namespaces. */
function binding(text: string): RoleBinding {
  const [namespace = '', subjects = ''] = text.split(': ')
  return {
    namespace: namespace === '*' ? '' : namespace,
    role: '/view',
    subjects: subjects.split(' '),
  }
}

describe('who may read Services', () => {
  const cases: { name: string; bindings: string[]; rights: Right[] }[] = [
    { name: 'are the masters of every cluster', bindings: [], rights: [MASTERS] },
    {
      name: 'are those whom bindings name, in the namespaces of these',
      bindings: ['shop: u:ana g:devs', 'data: u:ana', 'shop: u:ana'],
      rights: [
        { kind: 'group', name: 'devs', namespaces: ['shop'] },
        MASTERS,
        { kind: 'user', name: 'ana', namespaces: ['data', 'shop'] },
      ],
    },
    {
      name: 'are in all namespaces once a binding says so',
      bindings: ['shop: u:ana', '*: u:ana', 'data: u:ana'],
      rights: [MASTERS, { kind: 'user', name: 'ana', namespaces: 'all' }],
    },
    {
      name: 'are a user and a group of the same name for themselves',
      bindings: ['shop: u:ana', 'data: g:ana', '*: g:u:ana'],
      rights: [
        { kind: 'group', name: 'ana', namespaces: ['data'] },
        MASTERS,
        { kind: 'group', name: 'u:ana', namespaces: 'all' },
        { kind: 'user', name: 'ana', namespaces: ['shop'] },
      ],
    },
  ]
  for (const { name, bindings, rights } of cases) {
    test(name, () => assert.deepEqual(finish(serviceReaders(bindings.map(binding))), rights))
  }

  const someBinding = fc.record({
    namespace: fc.constantFrom('', 'a', 'b', 'c'),
    role: fc.constant('/view'),
    subjects: fc.array(fc.constantFrom('u:x', 'u:y', 'g:x', 'g:z'), { minLength: 1, maxLength: 3 }),
  })

  test('see no more without one of the bindings, and the same in another order', () => {
    fc.assert(
      fc.property(fc.array(someBinding, { minLength: 1, maxLength: 8 }), fc.nat(), (all, at) => {
        const before = finish(serviceReaders(all))
        const fewer = all.filter((_, i) => i !== at % all.length)
        for (const right of finish(serviceReaders(fewer))) assert.ok(isWithin(right, before))
        assert.deepEqual(finish(serviceReaders(all.toReversed())), before)
      }),
    )
  })
})

/** Returns whether what a right allows is allowed by some. */
function isWithin({ kind, name, namespaces }: Right, some: readonly Right[]): boolean {
  const other = some.find((one) => one.kind === kind && one.name === name)
  if (other === undefined) return false
  if (other.namespaces === 'all') return true
  return namespaces !== 'all' && namespaces.every((one) => other.namespaces.includes(one))
}

describe('rights that do not all fit', () => {
  const right = (name: string, ...namespaces: string[]): Right => ({
    kind: 'user',
    name,
    namespaces,
  })
  const many = Array.from({ length: 1000 }, (_, i) => right(`a${i}`, 'noisy'))
  const others = [right('b', 'shop'), right('c', 'noisy', 'shop'), right('d', 'data')]

  test('are those of all namespaces in turn', () => {
    const first = finish(firstRights([...many, MASTERS, ...others], 7))
    const names = first.map(({ name }) => name)
    assert.deepEqual(names, ['a0', 'system:masters', 'b', 'd', 'a1', 'c', 'a2'])
  })

  test('stay as they are', () => {
    const all = [...many, ...others]
    for (const one of finish(firstRights(all, 500))) assert.ok(all.includes(one))
    assert.equal(finish(firstRights(all, all.length)), all)
  })
})
