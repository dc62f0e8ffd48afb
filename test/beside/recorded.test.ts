/**
 * Queries about seeded objects, answered as the real k8s_gateway (commit bd2cc78 of
 * github.com/k8s-gateway/k8s_gateway) answered them on a real API server, but for listed
 * deviations. `k8s-gateway.suite.ts` recorded its replies.
 * @module
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { test } from 'vitest'
import { randomFrom } from '../../bench/cluster-objects.ts'
import { block, directive, serve } from '../ask.ts'
import { describe, messageOf } from '../real-cluster/asking.ts'
import { compare, describeTally, RESOURCES } from './comparison.ts'
import { drawObjects, drawQuestions, QUERIES, ZONES } from './host-objects.ts'

const RECORDED_SEED = 1
const file = join(import.meta.dirname, 'recorded.json.br')
const recorded: readonly [string, string][] = JSON.parse(
  brotliDecompressSync(readFileSync(file)).toString(),
)

test(`${QUERIES} queries get the recorded replies of k8s_gateway, but for deviations`, async () => {
  const random = randomFrom(RECORDED_SEED)
  const { objects, hosts } = drawObjects(random)
  const whole = objects.map(({ object, status }) => ({ ...object, ...(status && { status }) }))
  const options = [`resources ${RESOURCES}`, 'ttl 30']
  const server = serve(block(directive(`k8s_gateway ${ZONES.join(' ')}`, ...options)), {
    cluster: { objects: JSON.stringify(whole) },
  })
  const replies = new Map(recorded)
  const tally = await compare(drawQuestions(random, hosts, QUERIES), {
    hosts,
    ours: async (question) =>
      describe((await server.answer(messageOf(question))) ?? assert.fail(question)),
    theirs: async (question) => (replies.get(question) ?? assert.fail(question)).split(' | '),
  })
  process.stdout.write(describeTally(tally))
  assert.deepEqual(tally.wrong, [])
  assert.ok(tally.answered > QUERIES / 6)
  assert.equal(tally.deviations.size, 6)
})
