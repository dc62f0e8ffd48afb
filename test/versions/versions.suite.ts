/**
 * `npm run test:versions`: exporters and gateways of two versions, in each order of an upgrade and
 * back, while clients query all names.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, type TestContext, test } from 'vitest'
import { buildAssets } from '../../build/assets.ts'
import { describeUnless } from '../describe-unless.ts'
import { type Build, buildWith, CURRENT, prepareEarlier } from './builds.ts'
import { Deployment, type Runtime, STEADY } from './deployment.ts'

await buildAssets()

type Step = readonly [side: 'exporter' | 'gateway', build: Build]

/**
 * Takes the steps; after each, the exporter publishes a change. Every query must be answered.
 * @returns versions of the newest manifest after each step, on Node
 */
async function takeSteps(
  t: TestContext,
  runtime: Runtime,
  first: Build,
  steps: readonly Step[],
): Promise<readonly number[]> {
  const deployment = await Deployment.open(t, runtime)
  await deployment.replaceGateway(first)
  await deployment.replaceExporter(first)
  deployment.startClients()
  await deployment.change()
  const versions: number[] = []
  for (const [side, build] of steps) {
    if (side === 'gateway') await deployment.replaceGateway(build)
    else await deployment.replaceExporter(build)
    await deployment.change()
    if (runtime === 'node') versions.push(deployment.newestVersion())
  }
  const { wrong, right, slowestMs } = await deployment.finish()
  assert.deepEqual(wrong, [])
  assert.ok(right > STEADY.length, `${right} answers`)
  t.annotate(`${right} answers, 0 wrong, the slowest after ${Math.round(slowestMs)} ms`)
  return versions
}

const earlier = prepareEarlier()

describeUnless(typeof earlier === 'string' && earlier, 'the earlier build and this one', () => {
  if (typeof earlier === 'string') return
  const orders: { name: string; steps: readonly Step[] }[] = [
    {
      name: 'the gateway first, and last on the way back',
      steps: [
        ['gateway', CURRENT],
        ['exporter', CURRENT],
        ['exporter', earlier],
        ['gateway', earlier],
      ],
    },
    {
      name: 'the exporter first, and last on the way back',
      steps: [
        ['exporter', CURRENT],
        ['gateway', CURRENT],
        ['gateway', earlier],
        ['exporter', earlier],
      ],
    },
  ]
  for (const runtime of ['node', 'workerd'] as const) {
    describe(`a gateway in ${runtime}`, () => {
      test.for(orders)('$name', async ({ steps }, t) => {
        await takeSteps(t, runtime, earlier, steps)
      })
    })
  }
})

describe('a version of snapshots that only one side knows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-versions-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const bringing = buildWith(folder, 'bringing', { reads: [1, 2], writes: [1] })
  const after = buildWith(folder, 'after', { reads: [1, 2], writes: [1, 2] })
  const without = buildWith(folder, 'without', { reads: [2], writes: [2] })

  const cases: {
    name: string
    first: Build
    steps: readonly Step[]
    versions: readonly number[]
  }[] = [
    {
      name: 'is not written to an older gateway',
      first: CURRENT,
      steps: [
        ['exporter', bringing],
        ['exporter', after],
        ['exporter', CURRENT],
      ],
      versions: [1, 1, 1],
    },
    {
      name: 'is written to a gateway that reads it',
      first: bringing,
      steps: [
        ['gateway', after],
        ['exporter', after],
        ['gateway', bringing],
        ['exporter', bringing],
        ['exporter', after],
      ],
      versions: [1, 2, 2, 1, 2],
    },
    {
      name: 'is replaced when a gateway goes back twice',
      first: CURRENT,
      steps: [
        ['gateway', after],
        ['exporter', after],
        ['gateway', CURRENT],
      ],
      versions: [1, 2, 1],
    },
  ]
  test.for(cases)('$name', async ({ first, steps, versions }, t) => {
    assert.deepEqual(await takeSteps(t, 'node', first, steps), versions)
  })

  test('is refused in one line where the gateway reads nothing that the exporter writes', async (t) => {
    const deployment = await Deployment.open(t, 'node')
    await deployment.replaceGateway(CURRENT)
    const { status, tail } = await deployment.publishOnce(without)
    assert.equal(status, 1)
    const text = 'The gateway reads snapshots of version 1, this exporter writes 2'
    assert.equal(tail.split('\n').at(-1), `kubedoh: ${text}; upgrade the gateway`)
  })
})
