/**
 * Measures in a process of its own what one directive adds to the time of an answer:
 * `node plugin-cost.ts DIRECTIVE` prints the time without it and what it adds, in nanoseconds.
 * @module
 */
import { GeneratedCluster, GeneratedServer, questionsTo } from './generated-server.ts'
import { median } from './row.ts'

const SERVICES = 1000
/** Names that stay in the processor's caches: what is measured is the plugin, not the memory. */
const QUESTIONS = 64
const ROUNDS = 150
const WARM_ROUNDS = 20
const LEAST_MS = 5

const cluster = new GeneratedCluster(SERVICES)
const [{ messages } = { messages: [] }] = questionsTo(cluster.services, QUESTIONS)
const without = await serverWith('')
const withIt = await serverWith(process.argv[2] ?? '')
const base: number[] = []
const added: number[] = []
for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
  // In turn one or the other comes first: a machine that slows down does so for both.
  const early = round % 2 === 0 ? timeOf(without) : undefined
  const second = timeOf(withIt)
  const first = early ?? timeOf(without)
  if (round < 0) continue
  base.push(first)
  added.push(second - first)
}
await Promise.all([without.stop(), withIt.stop()])
process.stdout.write(`${JSON.stringify({ base: median(base), added: median(added) })}\n`)

function timeOf(one: GeneratedServer): number {
  return one.measure(messages, LEAST_MS)
}

function serverWith(directive: string): Promise<GeneratedServer> {
  const kubernetes = 'kubernetes cluster.local in-addr.arpa {\n pods insecure\n ttl 30\n }'
  return GeneratedServer.start(cluster, `.:0 {\nbind 127.0.0.1\n${kubernetes}\n${directive}\n}`)
}
