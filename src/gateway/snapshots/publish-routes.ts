/**
 * The routes by which exporters publish.
 * @module
 */
import type { Context, MiddlewareHandler } from 'hono'
import { Hono } from 'hono/tiny'
import { MANIFEST_BYTES_MAX, type Manifest } from '../../snapshot/format/manifest.ts'
import { formatVersions, READS_HEADER, VERSIONS_READ } from '../../snapshot/format/versions.ts'
import { carriesToken, unauthorized } from '../access/operators.ts'
import { sentToken } from '../access/sent-token.ts'
import type { ClusterConfig } from '../config/cluster-entry.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import type { IngestResult } from './ingest.ts'

/** Largest shard that may be published. */
export const PUBLISHED_SHARD_BYTES_MAX: number = 16 * 1024 * 1024
/** Largest publication: a manifest and a shard of any size fit. */
const PUBLICATION_BYTES_MAX: number = PUBLISHED_SHARD_BYTES_MAX + MANIFEST_BYTES_MAX + 8
/** Request header with a manifest's signature, in base64url. */
export const SIGNATURE_HEADER = 'kubedoh-signature'

/** The generations that a store keeps for a cluster. */
export type ClusterHistory = {
  /** The newest first. */
  readonly manifests: readonly Manifest[]
  /** The one that an operator pinned. */
  readonly pinned: number | undefined
  /** The one that is served; an older one while the newest lacks shards. */
  readonly served: number | undefined
  /** Isolates that follow the cluster now; absent where that is unknown. */
  readonly followers?: number
}

/** The newest manifest and its entity tag. */
export type WriterState = { readonly manifest: Manifest; readonly etag: string }

/** The single writer of a cluster, wherever it runs. */
export type ClusterWriter = {
  readonly putShard: (sha256: string, bytes: Uint8Array) => Promise<IngestResult>
  readonly putManifest: (
    bytes: Uint8Array,
    signature: string,
    expected: string | undefined,
  ) => Promise<IngestResult>
  /** Stores shards and the manifest that lists them, from the bytes of a publication. */
  readonly putPublication: ClusterWriter['putManifest']
  readonly state: () => Promise<WriterState | undefined>
  readonly history: () => Promise<ClusterHistory>
  /** Pins a generation, or with `undefined` unpins it; false when it is not kept. */
  readonly pin: (generation: number | undefined) => Promise<boolean>
}

/** Finds a cluster that may publish. @throws {HttpError} 503 when that is unknown */
export type FindCluster = (id: string, c: Context) => Promise<ClusterConfig | undefined>

/** What the routes need. */
type PublishOptions = {
  readonly findCluster: FindCluster
  readonly writerOf: (cluster: string, c: Context) => ClusterWriter
  /** Counts a cluster's request. @throws {HttpError} 429 over the rate limit */
  readonly count: (cluster: string) => Promise<void>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Creates the app with the exporters' routes below `/v1/clusters`. */
export function createPublishRoutes(options: PublishOptions): Hono {
  const app = new Hono()
  app.put('/v1/clusters/:id/shards/:sha256', nameVersions, async (c) => {
    const writer = await authorize(c, options)
    const sha256 = readShardHash(c)
    const bytes = await readBody(c.req.raw, PUBLISHED_SHARD_BYTES_MAX)
    return respond(await writer.putShard(sha256, bytes))
  })
  app.put('/v1/clusters/:id/manifest', nameVersions, async (c) => {
    const { putManifest } = await authorize(c, options)
    return respond(await putSigned(c, putManifest, MANIFEST_BYTES_MAX))
  })
  app.put('/v1/clusters/:id/publication', nameVersions, async (c) => {
    const { putPublication } = await authorize(c, options)
    return respond(await putSigned(c, putPublication, PUBLICATION_BYTES_MAX))
  })
  app.get('/v1/clusters/:id', nameVersions, async (c) => {
    const writer = await authorize(c, options)
    const state = await writer.state()
    if (state === undefined) throw new HttpError(404, 'nothing_yet', 'Nothing is published yet')
    const { manifest, etag } = state
    return jsonResponse(200, describe(manifest, options.now()), { etag })
  })
  return app
}

/** Reads the hash at the end of a shard's URL. @throws {HttpError} 400 */
export function readShardHash(c: Context): string {
  const sha256 = c.req.param('sha256') ?? ''
  if (/^[0-9a-f]{64}$/.test(sha256)) return sha256
  const message = 'The URL does not end in a SHA-256 of 64 lower-case hexadecimal digits'
  throw new HttpError(400, 'bad_hash', message)
}

/** Names the versions of snapshots that this gateway reads, to exporters that may publish. */
const nameVersions: MiddlewareHandler = async (c, next) => {
  await next()
  if (c.res.status !== 401) c.res.headers.set(READS_HEADER, formatVersions(VERSIONS_READ))
}

async function authorize(c: Context, options: PublishOptions): Promise<ClusterWriter> {
  return options.writerOf(await checkExporter(c, options), c)
}

/**
 * Checks that a request carries the token of the exporter of the cluster in its URL, and counts it.
 * An unknown cluster and a wrong token get the same response.
 * @returns the cluster's identifier
 * @throws {HttpError} 401, 429 over the rate limit, 503 when the cluster is unknown for now
 */
export async function checkExporter(
  c: Context,
  options: Pick<PublishOptions, 'findCluster' | 'count'>,
): Promise<string> {
  const id = c.req.param('id') ?? ''
  const cluster = sentToken(c.req) === undefined ? undefined : await options.findCluster(id, c)
  if (cluster !== undefined && (await carriesToken(c, cluster.tokenSha256s))) {
    await options.count(id)
    return id
  }
  throw unauthorized("The exporter's token of this cluster is needed")
}

/** Hands on a body with a signature and a precondition. */
async function putSigned(
  c: Context,
  put: ClusterWriter['putManifest'],
  bytesMax: number,
): Promise<IngestResult> {
  const expected = readPrecondition(c)
  const signature = c.req.header(SIGNATURE_HEADER)
  if (signature === undefined) {
    throw new HttpError(400, 'no_signature', `Header ${SIGNATURE_HEADER} is missing`)
  }
  return put(await readBody(c.req.raw, bytesMax), signature, expected)
}

/** `If-Match` with the current entity tag, or `If-None-Match: *` for the first manifest. */
function readPrecondition(c: Context): string | undefined {
  const match = c.req.header('if-match')
  if (match !== undefined) return match
  if (c.req.header('if-none-match') === '*') return undefined
  const message = 'Send If-Match, or If-None-Match: * for the first manifest'
  throw new HttpError(428, 'precondition_required', message)
}

function respond(result: IngestResult): Response {
  switch (result.kind) {
    case 'stored':
      return jsonResponse(result.isNew ? 201 : 200, { etag: result.etag }, { etag: result.etag })
    case 'missing': {
      const { sha256s: missing } = result
      const message = `${missing.length} shards are missing`
      return jsonResponse(409, { error: { code: 'missing_shards', message }, missing })
    }
    case 'refused':
      throw new HttpError(result.status, result.code, result.message)
  }
}

function describe(manifest: Manifest, nowMs: number): object {
  const { cluster, generation, time, records, shards, sources } = manifest
  const ageSeconds = Math.max(0, Math.round((nowMs - Date.parse(time)) / 1000))
  const bytes = shards.reduce((sum, shard) => sum + shard.bytes, 0)
  return { cluster, generation, time, ageSeconds, records, shards: shards.length, bytes, sources }
}
