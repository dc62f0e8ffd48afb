/**
 * The same Corefiles on the real CoreDNS and on ours, asked the same generated questions. Run by
 * `npm run test:cluster`. Any difference that `deviations.ts` does not name is a failure.
 * `KUBEDOH_SEED=N` asks other questions, `KUBEDOH_PLACE=NAME` at one place only.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, it } from 'vitest'
import { caseQuery } from '../conformance/case-query.ts'
import { type Answer, answerDifferences, readAnswer } from '../conformance/compare.ts'
import type { Case } from '../conformance/scenario.ts'
import { describeUnless } from '../describe-unless.ts'
import { ApiServer } from '../real-cluster/api-server.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { Etcd } from '../real-cluster/etcd.ts'
import { RIGHTS } from '../real-cluster/objects.ts'
import type { Running } from '../real-cluster/processes.ts'
import { Asker } from './asker.ts'
import { DEVIATIONS } from './deviations.ts'
import { expectationOf } from './expectation.ts'
import { type GeneratedQuestion, generateQuestions } from './generate.ts'
import { clusterObjects } from './objects.ts'
import { listPlaces, type Place, type Servers, startServers, startUpstream } from './place.ts'
import { signQuestion, withoutMac, withoutSignatures } from './signatures.ts'

const { KUBEDOH_SEED = '20261121', KUBEDOH_PLACE } = process.env
const SEED = Number(KUBEDOH_SEED)
const QUESTIONS_MIN = 20_000
const CONCURRENCY = 24
/**
 * No answer within the first time may be the machine's fault; the second says that there is
 * none.
 */
const TIMEOUTS_MS = [500, 2000] as const
const DEAD = '127.0.0.1:9'
const ATTEMPTS = 100

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
const places = listPlaces().filter(({ name }) => (KUBEDOH_PLACE ?? name) === name)
const perPlace = Math.ceil(QUESTIONS_MIN / places.length)

describeUnless(skip, 'CoreDNS and kubedoh answer the same', () => {
  const environment: Record<string, string> = { UPSTREAM_DEAD: DEAD }
  const deviationCounts = new Map<string, number>()
  const running: Running[] = []
  let api: ApiServer | undefined
  let etcd: Etcd | undefined
  const asker = new Asker()
  let compared = 0

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    const upstream = await startUpstream(binaries.coredns)
    running.push(upstream)
    environment.UPSTREAM = upstream.address
    const keys = places.flatMap((place) => place.keys)
    if (keys.length > 0) {
      etcd = await Etcd.start(binaries.etcd)
      environment.ETCD_ENDPOINT = etcd.url
      for (const { key, value } of keys) await etcd.put(key, value)
    }
    if (!places.some(({ needsCluster }) => needsCluster)) return
    api = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...clusterObjects()]) {
      await api.create(object)
      if (object.kind === 'Pod') await api.setStatus(object, object.status)
    }
    environment.KUBECONFIG = api.exporterConfig
  })

  afterAll(async () => {
    await asker.close()
    await Promise.all(running.map((one) => one.stop()))
    await api?.stop()
    await etcd?.stop()
    process.stdout.write(`${compared} answers compared with CoreDNS's\n`)
    for (const [reason, count] of deviationCounts) {
      process.stdout.write(`${count} times different on purpose: ${reason}\n`)
    }
    ok(compared >= QUESTIONS_MIN, `${compared} answers are too few`)
  })

  for (const place of places) {
    it(`at ${place.name}`, { timeout: 300_000 }, async () => {
      if (typeof binaries === 'string') return
      const servers = await startServers(place, binaries.coredns, environment)
      try {
        for (const zone of place.awaited) {
          await Promise.all(
            [servers.coredns, servers.kubedoh].map((port) => untilThere(port, zone)),
          )
        }
        deepEqual(await compareAll({ asker, place, servers }, deviationCounts), [])
        compared += perPlace
      } finally {
        await servers.stop()
      }
    })
  }
})

/** Asks for a zone until it is there. */
async function untilThere(port: number, zone: string): Promise<void> {
  const asker = new Asker()
  const asked = { id: 'until', qname: zone, qtype: 'SOA', transport: 'udp', rd: true } as const
  const message = caseQuery({ ...asked, expect: expectationOf(undefined, undefined) }, 0)
  try {
    for (let left = ATTEMPTS; ; left--) {
      const how = { transport: 'udp', src: '127.0.0.1', timeoutMs: 500 } as const
      const reply = await asker.ask(port, message, how)
      if (reply !== undefined && readAnswer(reply).answer.length > 0) return
      ok(left > 0, `${zone} is not there`)
      await setTimeout(100)
    }
  } finally {
    await asker.close()
  }
}

type Comparison = {
  readonly asker: Asker
  readonly place: Place
  readonly servers: Servers
}

async function compareAll(
  comparison: Comparison,
  deviationCounts: Map<string, number>,
): Promise<string[]> {
  const { place } = comparison
  const found: string[] = []
  const waiting = generateQuestions(place, { count: perPlace, seed: SEED }).values()
  const work = async (): Promise<void> => {
    for (const question of waiting) {
      const reason = await compareOne(comparison, question)
      if (reason === undefined) continue
      if (typeof reason === 'string') found.push(reason)
      else deviationCounts.set(reason.deviation, (deviationCounts.get(reason.deviation) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: place.isOrdered ? 1 : CONCURRENCY }, work))
  return found.slice(0, 12)
}

/** Asks both. @returns what is different, or the reason that allows it; `undefined` for nothing */
async function compareOne(
  { asker, place, servers: { coredns, kubedoh } }: Comparison,
  question: GeneratedQuestion,
): Promise<string | { readonly deviation: string } | undefined> {
  let wrong: string[] = []
  for (const timeoutMs of TIMEOUTS_MS) {
    const askOne = async (port: number, asked: GeneratedQuestion): Promise<Answer | undefined> => {
      const { src = '127.0.0.1' } = asked
      const transport = place.tellsPort ? 'udp' : asked.transport
      const message = caseQuery(
        { ...asked, transport, expect: expectationOf(undefined, undefined) },
        0,
      )
      const nowSeconds = Math.floor(Date.now() / 1000)
      const signed = asked.tsig && signQuestion(message, asked.tsig, nowSeconds)
      const how = { transport, src, timeoutMs }
      const reply = await asker.ask(port, signed?.message ?? message, how)
      if (reply === undefined) return undefined
      const answer = withoutSignatures(readAnswer(reply), reply, place.signingKeys)
      return signed === undefined ? answer : withoutMac(answer, reply, signed)
    }
    const theirs = await askOne(coredns, question)
    const ours = await askOne(kubedoh, question)
    const whole =
      theirs?.tc === true ? await askOne(coredns, { ...question, transport: 'tcp' }) : undefined
    const recorded: Case = {
      ...question,
      expect: expectationOf(theirs, whole),
      ...(place.isOrdered && { ttl_max: 2, ttl_late: 2 }),
    }
    wrong = answerDifferences(recorded, ours)
    if (wrong.length === 0) return undefined
    const difference = { place: place.name, question, theirs, ours, wrong }
    const deviation = DEVIATIONS.find(({ applies }) => applies(difference))
    if (deviation !== undefined) return { deviation: deviation.reason }
  }
  return `${JSON.stringify(question)}: ${wrong.join('; ')}`
}
