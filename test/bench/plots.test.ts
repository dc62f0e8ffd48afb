/** @module */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { drawPlots, drawSoak, PICTURES, RESULTS, readRows, SOAK } from '../../bench/plots.ts'
import { FIXED } from '../../bench/row.ts'
import type { Turn } from '../real-node/soak-turn.ts'

const ROWS = readRows(RESULTS)
const PLOTS = drawPlots(ROWS)

describe('the plots of docs/benchmarks.md', () => {
  for (const [name, svg] of PLOTS) {
    test(`${name} is what the results give; \`npm run plots\` draws it`, () => {
      assert.equal(readFileSync(join(PICTURES, name), 'utf8'), svg)
    })
  }

  test('are all that is drawn, and all on the page', () => {
    const page = readFileSync(join(PICTURES, '../benchmarks.md'), 'utf8')
    const drawn = readdirSync(PICTURES).filter((name) => name.startsWith('bench-'))
    assert.deepEqual(drawn.toSorted(), [...PLOTS.keys()].toSorted())
    for (const name of drawn) assert.ok(page.includes(`pictures/${name}`), name)
  })

  test('have values of kubedoh and CoreDNS in each group', () => {
    const texts = (svg = ''): string[] =>
      Array.from(svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g), ([, text = '']) => text)
    const cpu = texts(PLOTS.get('bench-cpu-light.svg'))
    const { ours = Number.NaN, peer = Number.NaN } =
      ROWS.find(({ metric }) => metric === 'CPU per query, TCP A, pipelined') ?? {}
    for (const value of [ours, peer]) {
      assert.ok(cpu.some((text) => text !== '' && Math.abs(Number(text) / value - 1) < 0.05))
    }
    assert.ok(cpu.includes('unbound') && cpu.includes('CoreDNS') && cpu.includes('kubedoh'))
  })

  test('have no bar for a fixed response', () => {
    const [row] = ROWS.filter(({ metric }) => /^CPU for a GET on Node/.test(metric))
    assert.ok(row)
    const peerName = `node:http2 ${FIXED}`
    assert.deepEqual(drawPlots([...ROWS, { ...row, peer: 20, peerName }]), PLOTS)
    assert.notDeepEqual(drawPlots([...ROWS, { ...row, peer: 20, peerName: 'dnsdist' }]), PLOTS)
  })

  test('change with a result', () => {
    const changed = ROWS.map((row) => ({ ...row, ours: 2 * row.ours }))
    for (const [name, svg] of drawPlots(changed)) assert.notEqual(svg, PLOTS.get(name))
  })
})

describe('the plot of the soak', () => {
  const turns = readRows<Turn>(SOAK)

  for (const [name, svg] of drawSoak(turns)) {
    test(`${name} is what its rows give, and on the page`, () => {
      assert.equal(readFileSync(join(PICTURES, name), 'utf8'), svg)
      assert.ok(
        readFileSync(join(PICTURES, '../benchmarks.md'), 'utf8').includes(`pictures/${name}`),
      )
    })
  }

  test('is of rows in which no query was lost', () => {
    assert.ok(turns.length > 10)
    assert.deepEqual(
      turns.filter(({ lost }) => lost > 0),
      [],
    )
  })
})
