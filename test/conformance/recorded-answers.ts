/**
 * Sends all queries that CoreDNS was recorded with, one way, and compares the responses. Each way
 * has a test file of its own, so that they run at the same time: some scenarios wait for TTLs.
 * @module
 */
import { deepEqual } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, it, vi } from 'vitest'
import { caseQuery } from './case-query.ts'
import { differences } from './compare.ts'
import {
  type Case,
  readScenario,
  type Scenario,
  scenarioNames,
  writeScenarioFiles,
} from './scenario.ts'
import type { Place, Transport } from './transports.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** A way to send the queries. */
export type Way = {
  readonly name: string
  readonly open: (place: Place) => Transport | Promise<Transport>
  readonly isDoh: boolean
  /** Returns why a scenario cannot be sent this way; all can when left out. */
  readonly whyNot?: (scenario: Scenario) => string | undefined
  /** Returns why a case cannot be sent this way. */
  readonly whyNotCase?: (recorded: Case) => string | undefined
  /** Whether another process answers, whose clock cannot be set. */
  readonly hasOwnClock?: boolean
}

/** What Corefiles name; keys come from a file. */
const NO_ETCD = 'http://127.0.0.1:2379'
/** Questions under way at one time, where their order does not matter. */
const CONCURRENCY = 16
/** Within which the process notices a lead of its wall clock, and upstreams here answer. */
const NOTICED_MS = 150

/** Declares a test for each scenario. */
export function testRecordedAnswers(way: Way): void {
  describe(`by ${way.name}, CoreDNS's answers`, () => {
    const tally: Tally = { asked: 0, left: new Map() }
    for (const name of scenarioNames()) {
      const scenario = readScenario(name)
      const reason = way.whyNot?.(scenario)
      if (reason !== undefined) {
        leave(tally, reason, scenario.cases.length)
        continue
      }
      it(name, async () => {
        deepEqual(await failures(scenario, way, tally), [])
      })
    }
    afterAll(() => process.stdout.write(`${describeTally(way, tally)}\n`))
  })
}

/** How many cases a way asked, and how many it did not, by the reason. */
type Tally = { asked: number; readonly left: Map<string, number> }

function describeTally({ name }: Way, { asked, left }: Tally): string {
  const reasons = [...left].map(([reason, count]) => `${count} not: ${reason}`)
  return [`by ${name}: ${asked} cases asked`, ...reasons].join('; ')
}

function leave({ left }: Tally, reason: string, count: number): void {
  left.set(reason, (left.get(reason) ?? 0) + count)
}

/** The cases that a way can ask; the others are counted by the reason. */
function countedCases(
  cases: readonly Case[],
  { isDoh, whyNotCase }: Way,
  tally: Tally,
): readonly Case[] {
  const asked = cases.filter((one) => {
    const reason = (isDoh ? whyNotByHttps(one) : undefined) ?? whyNotCase?.(one)
    if (reason !== undefined) leave(tally, reason, 1)
    return reason === undefined
  })
  tally.asked += asked.length
  return asked
}

/** Lists what is wrong, at most ten cases. */
async function failures(scenario: Scenario, way: Way, tally: Tally): Promise<string[]> {
  const { open, isDoh } = way
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-conformance-'))
  const upstreams: Upstream[] = []
  const isTimed = scenario.cases.some((one) => one.at_ms !== undefined)
  const clock = isTimed && way.hasOwnClock !== true ? clockAhead() : REAL_CLOCK
  try {
    Object.assign(process.env, { ETCD_ENDPOINT: NO_ETCD }, scenario.environment)
    for (const [variable, fixtures] of Object.entries(scenario.upstreams)) {
      const upstream = await startUpstream(fixtures ?? [])
      process.env[variable] = upstream.address
      if (fixtures === null) await upstream.close()
      else upstreams.push(upstream)
    }
    const transport = await open({ scenario, ...writeScenarioFiles(scenario, folder) })
    const cases = countedCases(scenario.cases, way, tally)
    try {
      // No two questions can come from one port at a time.
      const isOrdered = scenario.ordered || cases.some((one) => one.src_port !== undefined)
      return await run(cases, { transport, isDoh, isOrdered, clock })
    } finally {
      await transport.close()
    }
  } finally {
    for (const upstream of upstreams) await upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(
  cases: readonly Case[],
  options: {
    readonly transport: Transport
    readonly isDoh: boolean
    readonly isOrdered: boolean
    readonly clock: Clock
  },
): Promise<string[]> {
  const found: string[] = []
  const waiting = cases.entries()
  const { clock } = options
  const startMs = clock.nowMs()
  const work = async (): Promise<void> => {
    for (const [i, recorded] of waiting) {
      const delayMs = (recorded.at_ms ?? 0) - (clock.nowMs() - startMs)
      if (delayMs > 0) await clock.pass(delayMs)
      const messages = await options.transport.ask(recorded, caseQuery(recorded, i % 0xffff))
      const lateMs = clock.nowMs() - startMs - (recorded.at_ms ?? 0)
      const lateSeconds = options.isOrdered ? Math.floor(lateMs / 1000) : 0
      const wrong = differences(recorded, messages, { isDoh: options.isDoh, lateSeconds })
      if (wrong.length === 0 || found.length >= 10) continue
      found.push(`${recorded.id} ${recorded.qname} ${recorded.qtype}: ${wrong.join(', ')}`)
    }
  }
  await Promise.all(Array.from({ length: options.isOrdered ? 1 : CONCURRENCY }, work))
  return found
}

/** A clock, and what lets time pass on it. */
type Clock = { readonly nowMs: () => number; readonly pass: (ms: number) => Promise<void> }

const REAL_CLOCK: Clock = { nowMs: () => performance.now(), pass: (ms) => sleep(ms) }

/**
 * Returns a clock that is set ahead instead of waited for, until the test ends: the wall clock of
 * this process, whose lead counts as time in which the machine slept.
 */
function clockAhead(): Clock {
  const readWall = Date.now.bind(Date)
  let aheadMs = 0
  vi.spyOn(Date, 'now').mockImplementation(() => readWall() + aheadMs)
  return {
    nowMs: () => performance.now() + aheadMs,
    pass: async (ms) => {
      const waitMs = Math.min(ms, NOTICED_MS)
      aheadMs += ms - waitMs
      await sleep(waitMs)
    },
  }
}

/** Why a case cannot be asked over HTTPS; `undefined` when it can. */
function whyNotByHttps({ id, expect, qname, qtype }: Case): string | undefined {
  if (expect.drop === true) return 'over HTTPS every message gets an answer'
  if (qtype === 'AXFR' || qtype === 'IXFR') return 'no transfers over HTTPS'
  if (/(^|\.)who\.test\.$/i.test(qname)) return 'the answer says by what transport it was asked'
  if (id === 'cache-0138') return 'it is about what was cut over UDP, and the cache kept so'
  if (id.startsWith('view-') && /(^|\.)example\.com\.$/i.test(qname)) {
    return 'its view is chosen by what UDP has room for, and by TCP'
  }
  return undefined
}
