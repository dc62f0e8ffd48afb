/**
 * What a gateway takes that has nothing in memory: a fresh workerd process over a Durable Object's
 * storage, in which a cluster of a million records was published before. No code of it has run, and
 * none is compiled.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeBase64url } from '../src/dns/bytes/base64url.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import type { GatewayVariables } from '../src/gateway/config/config.ts'
import { type LocalGateway, startGateway } from '../test/workerd.ts'
import { FollowedCluster } from './followed-cluster.ts'
import { cpuUs } from './gateway-load.ts'
import { benchGatewayOf, publishTo, tokenFrom } from './gateway-servers.ts'
import { median, type Row, row } from './row.ts'

const IS_QUICK = process.env.BENCH_QUICK === '1'
const RECORDS = IS_QUICK ? 200_000 : 1_000_000
const ROUNDS = IS_QUICK ? 3 : 9

/** What a fresh process took. */
type Cold = {
  readonly startMs: number
  readonly startCpuMs: number
  readonly first: Taken
  readonly second: Taken
}

/** Time that a client waited for an answer, and CPU time of the process for it. */
type Taken = { readonly waitMs: number; readonly cpuMs: number }

/** A gateway's storage with a cluster in it. */
type Published = {
  readonly variables: GatewayVariables
  readonly storage: string
  readonly token: string
  readonly names: readonly string[]
  readonly records: number
}

/** Measures start-up, first answer and second answer. */
export async function coldRows(): Promise<Row[]> {
  const storage = mkdtempSync(join(tmpdir(), 'kubedoh-bench-'))
  try {
    const published = await publish(storage)
    const rounds: Cold[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await coldRound(published, round))
    const of = (pick: (one: Cold) => number): number => median(rounds.map(pick))
    const name = `${published.records.toLocaleString('en-US')} records`
    return [
      row(
        'gateway',
        'cold workerd, start until it listens',
        'ms',
        of((one) => one.startMs),
      ),
      row(
        'gateway',
        'cold workerd, CPU of the start',
        'ms',
        of((one) => one.startCpuMs),
      ),
      row(
        'gateway',
        `cold, first answer, ${name}`,
        'ms',
        of(({ first }) => first.waitMs),
      ),
      row(
        'gateway',
        'cold, CPU of the first answer',
        'ms',
        of(({ first }) => first.cpuMs),
      ),
      row(
        'gateway',
        'cold, second answer, of another shard',
        'ms',
        of(({ second }) => second.waitMs),
      ),
      row(
        'gateway',
        'cold, CPU of the second answer',
        'ms',
        of(({ second }) => second.cpuMs),
      ),
    ]
  } finally {
    rmSync(storage, { recursive: true, force: true })
  }
}

async function publish(storage: string): Promise<Published> {
  const cluster = new FollowedCluster(RECORDS)
  const names = cluster.services
    .filter(({ isHeadless }) => !isHeadless)
    .map(({ name, namespace }) => `${name}.${namespace}.svc.cluster.local`)
  const { keys, variables } = await benchGatewayOf()
  const gateway = await startGateway({ port: 0, variables, storage })
  const built = cluster.build()
  await publishTo(gateway.url, keys, built)
  const token = await tokenFrom(gateway.url, ['*'])
  await gateway.stop()
  return { variables, storage, token, names, records: built.records }
}

async function coldRound(published: Published, round: number): Promise<Cold> {
  const { variables, storage, names } = published
  const gateway = await startGateway({ port: 0, variables, storage })
  try {
    const { startMs } = gateway
    const startCpuMs = cpuUs(gateway.pid) / 1000
    const first = await ask(gateway, published, names[round * 1009] ?? '')
    const second = await ask(gateway, published, names[round * 1009 + 503] ?? '')
    return { startMs, startCpuMs, first, second }
  } finally {
    await gateway.stop()
  }
}

async function ask(gateway: LocalGateway, { token }: Published, name: string): Promise<Taken> {
  const dns = encodeBase64url(writeQuery({ name: nameOf(name), type: TYPE.A }))
  const headers = { authorization: `Bearer ${token}` }
  const beforeMs = cpuUs(gateway.pid) / 1000
  const startMs = performance.now()
  const response = await fetch(`${gateway.url}/dns-query?dns=${dns}`, { headers })
  const reply = new Uint8Array(await response.arrayBuffer())
  const waitMs = performance.now() - startMs
  if ((reply[7] ?? 0) === 0) throw new Error(`No answer for ${name}: status ${response.status}`)
  return { waitMs, cpuMs: cpuUs(gateway.pid) / 1000 - beforeMs }
}
