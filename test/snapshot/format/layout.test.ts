import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import * as layout from '../../../src/snapshot/format/layout.ts'
import { SnapshotError } from '../../../src/snapshot/format/layout.ts'

const README = readFileSync(join(import.meta.dirname, '../../../src/snapshot/README.md'), 'utf8')

/** The cells of the table rows below a heading, up to the next one. */
function rowsBelow(heading: string): string[][] {
  const [, section = ''] = README.split(`\n### ${heading}\n`)
  const [body = ''] = section.split('\n#')
  return Array.from(body.matchAll(/^\|(.*)\|$/gm), ([, row = '']) =>
    row.split('|').map((cell) => cell.trim()),
  )
}

/** Bytes before the parts whose size varies: the offset at which the first of them begins. */
function fixedBytes(rows: readonly string[][]): number {
  const varying = rows.find(([, octets = '']) => /[*]/.test(octets))
  return Number(varying?.[0])
}

describe('the layout that the README draws', () => {
  test('has the fields of the header where HEADER has them', () => {
    const rows = rowsBelow('Header').filter(([offset = '']) => /^\d+$/.test(offset))
    const fields = rows.map(([offset, name = '']) => [name, Number(offset) / 4])
    assert.deepEqual(Object.fromEntries(fields), layout.HEADER)
    assert.equal(4 * rows.length, layout.SHARD_HEADER_BYTES)
  })

  test('begins with the bytes of MAGIC', () => {
    const octets = new Uint8Array(Uint32Array.of(layout.MAGIC).buffer)
    assert.ok(README.includes(`| 0 | MAGIC | the bytes \`${Buffer.from(octets)}\` |`))
  })

  test('has slots, nodes and references of the same size', () => {
    const [, , hash, node] = rowsBelow('Index')
    assert.equal(Number(hash?.[1]) + Number(node?.[1]), layout.SLOT_BYTES)
    assert.equal(fixedBytes(rowsBelow('Nodes')), layout.NODE_BYTES)
    const reference = rowsBelow('Nodes').slice(-3)
    const bytes = reference.reduce((sum, [, octets]) => sum + Number(octets), 0)
    assert.equal(bytes, layout.SET_REF_BYTES)
  })

  test('has records of the same size', () => {
    const rows = rowsBelow('Sets')
    const first = rows.findIndex(([, octets]) => octets === '6')
    const target = rows.slice(first, first + 3)
    const bytes = target.reduce((sum, [, octets]) => sum + Number(octets), 0)
    assert.equal(bytes, layout.TARGET_BYTES)
    assert.ok(README.includes(`Form 1, for SRV: ${layout.TARGET_BYTES} bytes for each record`))
    assert.equal(fixedBytes(rows), layout.PARTS_BYTES)
  })

  test('has the same forms', () => {
    const forms = Array.from(README.matchAll(/^Form (\d), for ([^:,.;]*)/gm), (match) => [
      match[2],
      Number(match[1]),
    ])
    assert.deepEqual(forms, [
      ['A and AAAA', layout.FORM.FIXED],
      ['SRV', layout.FORM.TARGETS],
      ['all types except A and AAAA', layout.FORM.PARTS],
    ])
  })

  test('has the same bits', () => {
    const bits = (line: string): number[] =>
      Array.from(line.matchAll(/bits? (\d+)(?:–(\d+))?/g), ([, from, to]) => {
        const [low, high] = [Number(from), Number(to ?? from)]
        return 2 ** (high + 1) - 2 ** low
      })
    const [, , , second = [], third = []] = rowsBelow('Nodes')
    assert.deepEqual(bits(second.join(' ')), [layout.SETS_PER_NODE_MAX, layout.ADDRESS_NAMES_BIT])
    assert.deepEqual(bits(third.join(' ')), [
      layout.NAMESPACES_MAX,
      layout.IMPLIED_BIT,
      layout.GLUE_BIT,
    ])
    const [, , head = []] = rowsBelow('Sets')
    assert.equal(bits(head.join(' '))[0], layout.SET_TTL_MAX)
  })

  test('has the same limits', () => {
    const [, bugs = ''] = README.replaceAll('\n', ' ').split('## Bugs')
    const [, limits = ''] = /Limits of a shard: (.*?)\. /.exec(bugs.replaceAll(/ +/g, ' ')) ?? []
    assert.deepEqual(Array.from(limits.matchAll(/\d+/g), Number), [
      layout.SHARD_BYTES_MAX / 1024 ** 2,
      layout.SETS_PER_NODE_MAX,
      layout.RECORDS_PER_SET_MAX,
      layout.SET_TTL_MAX,
      layout.NAMESPACES_MAX,
    ])
  })

  test('knows no features', () => {
    assert.equal(layout.FEATURES_KNOWN, 0)
    assert.ok(README.includes('| 4 | FEATURES | 0;'))
  })
})

test('SnapshotError is an error with a name of its own, and keeps its cause', () => {
  const cause = new TypeError('why')
  const error = new SnapshotError('Cannot open shard', { cause })
  assert.ok(error instanceof Error)
  assert.equal(String(error), 'SnapshotError: Cannot open shard')
  assert.equal(error.cause, cause)
})
