/**
 * The operator's routes that list and compare a cluster's generations, and pin one.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import type { Manifest } from '../snapshot/format/manifest.ts'
import { checkAdmin } from './operators.ts'
import type { ClusterHistory, ClusterWriter } from './publish-routes.ts'
import { diffSnapshots, type ReadShard } from './snapshot-diff.ts'

const BODY_BYTES_MAX = 1024

/** What the routes need. */
export type GenerationRoutesOptions = {
  /** SHA-256 of the operator (admin) token; `undefined` for none. */
  readonly adminSha256: string | undefined
  /** Returns whether CLUSTERS has a cluster. */
  readonly isCluster: (id: string) => boolean
  readonly writerOf: (cluster: string, c: Context) => ClusterWriter
  readonly readShardOf: (cluster: string, c: Context) => ReadShard
}

/** Creates the app with the routes below `/v1/clusters/ID`. */
export function createGenerationRoutes(options: GenerationRoutesOptions): Hono {
  const app = new Hono()
  app.get('/v1/clusters/:id/generations', async (c) => {
    const writer = await authorize(c, options)
    return jsonResponse(200, describe(await writer.history()))
  })
  app.get('/v1/clusters/:id/diff', async (c) => {
    const writer = await authorize(c, options)
    const { manifests } = await writer.history()
    const from = findGeneration(manifests, numberOf(c.req.query('from')))
    const to = findGeneration(manifests, numberOf(c.req.query('to') ?? String(newestOf(manifests))))
    const readShard = options.readShardOf(c.req.param('id'), c)
    const lines = await diffSnapshots(from, to, readShard)
    return new Response(lines.map((line) => `${line}\n`).join(''), {
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
    })
  })
  app.put('/v1/clusters/:id/pin', async (c) => {
    const writer = await authorize(c, options)
    const generation = await readGeneration(c)
    if (!(await writer.pin(generation))) throw unknownGeneration(generation)
    return jsonResponse(200, describe(await writer.history()))
  })
  app.delete('/v1/clusters/:id/pin', async (c) => {
    const writer = await authorize(c, options)
    await writer.pin(undefined)
    return jsonResponse(200, describe(await writer.history()))
  })
  return app
}

async function authorize(c: Context, options: GenerationRoutesOptions): Promise<ClusterWriter> {
  await checkAdmin(c, options.adminSha256)
  const id = c.req.param('id') ?? ''
  if (!options.isCluster(id)) {
    throw new HttpError(404, 'unknown_cluster', 'CLUSTERS has no cluster with this identifier')
  }
  return options.writerOf(id, c)
}

function describe({
  manifests,
  pinned,
  served,
}: ClusterHistory): Readonly<Record<string, unknown>> {
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

function newestOf([newest]: readonly Manifest[]): number {
  return newest?.generation ?? 0
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
