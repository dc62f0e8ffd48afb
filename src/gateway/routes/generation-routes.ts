/**
 * The operator's routes that list and compare a cluster's generations, and pin one.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { createSharedPause, sortSteps, withPauses } from '../../dns/bytes/steps.ts'
import { nameOf } from '../../dns/names/name.ts'
import type { Manifest } from '../../snapshot/format/manifest.ts'
import { openShard } from '../../snapshot/read/open-shard.ts'
import { shardRecords } from '../../snapshot/read/shard-records.ts'
import { formatRecord } from '../../snapshot/records/zone-text.ts'
import { noteFacts } from '../access/audit.ts'
import { checkOperator } from '../access/operators.ts'
import type { GatewayConfig } from '../config/config.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse, streamOf, uncached } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import type { ClusterHistory, ClusterWriter, FindCluster } from '../snapshots/publish-routes.ts'
import type { GatewayRuntime } from './gateway.ts'

const BODY_BYTES_MAX = 1024

/** Creates the app with the operator's routes below `/v1/clusters/ID`. */
export function createGenerationRoutes(
  { adminSha256s }: Pick<GatewayConfig, 'adminSha256s'>,
  { writerOf, originOf, host }: Pick<GatewayRuntime, 'writerOf' | 'originOf' | 'host'>,
  findCluster: FindCluster,
): Hono {
  const app = new Hono()
  const authorize = async (c: Context): Promise<ClusterWriter> => {
    const id = c.req.param('id') ?? ''
    await checkOperator(c, adminSha256s, id)
    if ((await findCluster(id, c)) !== undefined) return writerOf(id, c)
    throw new HttpError(404, 'unknown_cluster', 'The gateway has no cluster with this identifier')
  }
  app.get('/v1/clusters/:id/generations', async (c) => {
    const writer = await authorize(c)
    return jsonResponse(200, describe(await writer.history()))
  })
  app.get('/v1/clusters/:id/diff', async (c) => {
    const { manifests } = await (await authorize(c)).history()
    const from = findGeneration(manifests, numberOf(c.req.query('from')))
    const newest = manifests[0]?.generation ?? 0
    const to = findGeneration(manifests, numberOf(c.req.query('to') ?? String(newest)))
    const { readShard } = originOf(c.req.param('id'))
    const pause = createSharedPause(host)
    const lines = await diffSnapshots(from, to, { readShard, pause })
    const body = streamOf(textOfLines(lines), pause)
    return uncached(200, body, { 'content-type': 'text/plain; charset=utf-8' })
  })
  app.put('/v1/clusters/:id/pin', async (c) => {
    const writer = await authorize(c)
    const generation = await readGeneration(c)
    noteFacts(c, { generation })
    if (!(await writer.pin(generation))) throw unknownGeneration(generation)
    return jsonResponse(200, describe(await writer.history()))
  })
  app.delete('/v1/clusters/:id/pin', async (c) => {
    const writer = await authorize(c)
    await writer.pin(undefined)
    return jsonResponse(200, describe(await writer.history()))
  })
  return app
}

function describe({ manifests, pinned, served }: ClusterHistory): object {
  return {
    served: served ?? 0,
    isPinned: pinned !== undefined,
    generations: manifests.map(({ generation, time, records, shards }) => ({
      generation,
      time,
      records,
      bytes: shards.reduce((sum, { bytes }) => sum + bytes, 0),
    })),
  }
}

function findGeneration(manifests: readonly Manifest[], wanted: number): Manifest {
  const found = manifests.find(({ generation }) => generation === wanted)
  if (found === undefined) throw unknownGeneration(wanted)
  return found
}

function unknownGeneration(generation: number): HttpError {
  return new HttpError(404, 'unknown_generation', `Generation ${generation} is not kept`)
}

async function readGeneration(c: Context): Promise<number> {
  const text = new TextDecoder().decode(await readBody(c.req.raw, BODY_BYTES_MAX))
  return numberOf(/^\s*\{\s*"generation"\s*:\s*(\d+)\s*\}\s*$/.exec(text)?.[1])
}

function numberOf(text: string | undefined): number {
  if (text !== undefined && /^\d{1,10}$/.test(text)) return Number(text)
  throw new HttpError(400, 'bad_generation', 'A generation is a number, such as 1767225600')
}

/** Most bytes of differing shards: their records as text must fit in memory. */
const DIFF_BYTES_MAX = 8 * 1024 * 1024

/** Lines of a text that are sent at a time. */
const LINES_AT_ONCE = 500

/** What a comparison needs. */
type DiffContext = {
  /** Reads a shard by its hash. */
  readonly readShard: (sha256: string) => Promise<Uint8Array | undefined>
  /** Lets queries be answered meanwhile. */
  readonly pause: () => Promise<void> | undefined
}

/**
 * Lists the records that are only in `from` after `- `, and those only in `to` after `+ `, sorted
 * by record. Does not read shards that both have.
 * @throws {HttpError} 413 when too much differs, 410 when a shard is missing
 */
export async function diffSnapshots(
  from: Manifest,
  to: Manifest,
  context: DiffContext,
): Promise<string[]> {
  const known = [from, to].map(({ shards }) => new Set(shards.map(({ sha256 }) => sha256)))
  const [removed, added] = [from, to].map(({ shards }, i) =>
    shards.filter(({ sha256 }) => known[1 - i]?.has(sha256) === false),
  )
  const all = [...(removed ?? []), ...(added ?? [])]
  const bytes = all.reduce((sum, shard) => sum + shard.bytes, 0)
  if (bytes > DIFF_BYTES_MAX) {
    const message = `The differing shards have ${bytes} bytes, over ${DIFF_BYTES_MAX}`
    throw new HttpError(413, 'too_different', message)
  }
  const before = await linesOf(removed ?? [], from, context)
  const after = await linesOf(added ?? [], to, context)
  const { pause } = context
  const lines: { readonly line: string; readonly sign: string }[] = []
  for (const [sign, own, other] of [
    ['-', before, after],
    ['+', after, before],
  ] as const) {
    for (const line of own) {
      if (!other.has(line)) lines.push({ line, sign })
      const paused = pause()
      if (paused !== undefined) await paused
    }
  }
  const sorted = sortSteps(lines, (a, b) => (a.line === b.line ? 0 : a.line < b.line ? -1 : 1))
  return (await withPauses(sorted, pause)).map(({ line, sign }) => `${sign} ${line}`)
}

/** Joins lines to texts of some of them each. */
function* textOfLines(lines: readonly string[]): Generator<string> {
  for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
    yield `${lines.slice(start, start + LINES_AT_ONCE).join('\n')}\n`
  }
}

async function linesOf(
  shards: Manifest['shards'],
  { origins: [origin = '.'] }: Manifest,
  { readShard, pause }: DiffContext,
): Promise<Set<string>> {
  const lines = new Set<string>()
  for (const { sha256 } of shards) {
    const bytes = await readShard(sha256)
    if (bytes === undefined) throw new HttpError(410, 'gone', 'A shard is not kept any more')
    for (const record of shardRecords(openShard(bytes), nameOf(origin))) {
      lines.add(formatRecord(record))
      const paused = pause()
      if (paused !== undefined) await paused
    }
  }
  return lines
}
