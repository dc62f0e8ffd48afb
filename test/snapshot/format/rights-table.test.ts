import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { finish } from '../../../src/dns/bytes/steps.ts'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'
import {
  isRights,
  openRights,
  principalKey,
  RIGHTS_BYTES_MAX,
  type Right,
  RightsError,
  type RightsTable,
  writeRights,
} from '../../../src/snapshot/format/rights-table.ts'
import { openShard } from '../../../src/snapshot/read/open-shard.ts'
import { flipped } from '../../generators.ts'

const SOME: readonly Right[] = [
  { kind: 'user', name: 'oidc:ada@example.org', namespaces: ['shop', 'ci'] },
  { kind: 'user', name: 'system:serviceaccount:ci:builder', namespaces: ['shop'] },
  { kind: 'group', name: 'oidc:shop', namespaces: ['ci', 'shop'] },
  { kind: 'group', name: 'system:masters', namespaces: 'all' },
]

function write(rights: readonly Right[]): Uint8Array {
  return finish(writeRights(rights, (text) => hash('sha256', text, 'buffer')))
}

/** What principals see, as `u:NAME` and `g:NAME`. */
async function seen(table: RightsTable, ...principals: readonly string[]): Promise<unknown> {
  const keys = await Promise.all(
    principals.map((text) => principalKey(text[0] === 'u' ? 'user' : 'group', text.slice(2))),
  )
  const namespaces = table.namespacesOf(keys)
  return namespaces === 'all' ? 'all' : [...namespaces].sort()
}

describe('a table of rights', () => {
  const cases: { of: readonly string[]; sees: unknown }[] = [
    { of: ['u:oidc:ada@example.org'], sees: ['ci', 'shop'] },
    { of: ['u:system:serviceaccount:ci:builder'], sees: ['shop'] },
    { of: ['u:system:serviceaccount:ci:builder', 'g:oidc:shop'], sees: ['ci', 'shop'] },
    { of: ['u:system:serviceaccount:ci:builder', 'g:system:masters'], sees: 'all' },
    { of: ['u:oidc:shop'], sees: [] },
    { of: ['g:oidc:ada@example.org'], sees: [] },
    { of: ['u:oidc:ada@example.or'], sees: [] },
    { of: [], sees: [] },
  ]
  for (const { of, sees } of cases) {
    test(`shows ${JSON.stringify(sees)} to ${of.join(' and ') || 'nobody'}`, async () => {
      assert.deepEqual(await seen(openRights(write(SOME)), ...of), sees)
    })
  }

  test('is the same bytes whatever the order, without principals that see nothing', () => {
    const none: Right = { kind: 'user', name: 'none', namespaces: [] }
    const turned = SOME.map(({ namespaces, ...one }) => ({
      ...one,
      namespaces: namespaces === 'all' ? namespaces : [...namespaces, ...namespaces].reverse(),
    }))
    assert.deepEqual(write([none, ...turned].reverse()), write(SOME))
  })

  test('returns what was written, whatever the names', async () => {
    const names = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 30 })
    const namespaces = fc.oneof(
      fc.constant('all' as const),
      fc.uniqueArray(
        fc.nat(400).map((number) => `team-${number}`),
        { maxLength: 60 },
      ),
    )
    const kind = fc.constantFrom('user' as const, 'group' as const)
    const rights = names.chain((all) =>
      fc.tuple(...all.map((name) => fc.record({ name: fc.constant(name), kind, namespaces }))),
    )
    await fc.assert(
      fc.asyncProperty(rights, async (all) => {
        const table = openRights(write(all))
        for (const { kind: one, name, namespaces: some } of all) {
          const expected = some === 'all' ? 'all' : [...some].sort()
          assert.deepEqual(await seen(table, `${one[0]}:${name}`), expected)
        }
      }),
    )
  })

  test('holds 10,000 principals and 1,000 namespaces', () => {
    const rights = Array.from({ length: 10_000 }, (_, i) => ({
      kind: i % 5 === 0 ? ('group' as const) : ('user' as const),
      name: `oidc:person-${i}@example.org`,
      namespaces: Array.from({ length: 1 + (i % 4) }, (_unused, j) => {
        return `team-${(i * 7919 + j * 104_729) % 1000}`
      }),
    }))
    const { length } = write(rights)
    assert.ok(length < RIGHTS_BYTES_MAX, `${length} bytes`)
  })

  test('cannot be written over its bounds, or with a principal twice', () => {
    const many = (count: number, of: (i: number) => Right['namespaces']): readonly Right[] =>
      Array.from({ length: count }, (_, i) => ({ kind: 'user', name: `${i}`, namespaces: of(i) }))
    const cases: { rights: readonly Right[]; message: string }[] = [
      { rights: many(15_000, () => 'all'), message: 'bytes, at most 262144 fit' },
      {
        rights: many(1, () => Array.from({ length: 65_001 }, (_, i) => `${i}`)),
        message: 'The rights have 65001 namespaces, at most 65000 fit',
      },
      {
        rights: many(65_001, (i) => [`${i % 300}`, `${300 + Math.floor(i / 300)}`]),
        message: 'The rights have 65001 different sets of namespaces, at most 65000 fit',
      },
    ]
    for (const { rights, message } of cases) {
      assert.throws(
        () => write(rights),
        (error) => error instanceof RightsError && error.message.includes(message),
      )
    }
    assert.throws(() => write([...SOME, ...SOME]), RangeError)
    assert.throws(() => write(many(1, () => [''])), RangeError)
    assert.throws(() => write(many(1, () => ['a'.repeat(256)])), RangeError)
  })
})

describe('openRights', () => {
  test('refuses bytes that are cut off or longer', () => {
    const whole = write(SOME)
    for (let size = 0; size < whole.length; size++) {
      assert.throws(() => openRights(whole.subarray(0, size)), SnapshotError, `${size} bytes`)
    }
    assert.throws(() => openRights(Uint8Array.of(...whole, 0)), SnapshotError)
    const huge = new Uint8Array(RIGHTS_BYTES_MAX + 1)
    huge.set(whole)
    assert.throws(() => openRights(huge), /over 262144 bytes/)
  })

  test('refuses changed bytes, or reads namespaces from them that they have', () => {
    const whole = write(SOME)
    fc.assert(
      fc.property(
        fc.oneof(
          flipped(whole),
          fc.uint8Array().map((end) => Uint8Array.of(...whole.subarray(0, 12), ...end)),
        ),
        (bytes) => {
          let table: RightsTable
          try {
            table = openRights(bytes)
          } catch (error) {
            assert.ok(error instanceof SnapshotError, String(error))
            return
          }
          const names = Buffer.from(bytes).toString()
          for (let at = 12; at + 16 <= bytes.length; at += 18) {
            const found = table.namespacesOf([bytes.subarray(at, at + 16)])
            if (found === 'all') continue
            for (const name of found) assert.ok(name !== '' && names.includes(name), name)
          }
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('knows a table from a shard by its first bytes', () => {
    const table = write(SOME)
    assert.equal(isRights(table), true)
    assert.equal(isRights(table.subarray(0, 11)), false)
    assert.throws(() => openShard(table), SnapshotError)
  })
})
