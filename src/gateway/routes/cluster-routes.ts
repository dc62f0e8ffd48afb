/**
 * The operator's routes that add, list and remove clusters, rotate their keys, and set the issuers
 * whose tokens count for them, while the gateway runs.
 * @module
 */
import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import { createSharedPause, type Turns } from '../../dns/bytes/steps.ts'
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { formatName } from '../../dns/names/name.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { importPublicKey } from '../../snapshot/format/signature.ts'
import {
  DIRECTORY_MAX,
  type DirectoryEntry,
  type ExporterKeys,
} from '../access/cluster-directory.ts'
import type { DirectoryRuntime } from '../access/known-clusters.ts'
import { checkAdmin } from '../access/operators.ts'
import type { TokenStore } from '../access/token-store.ts'
import { CLUSTER_KEYS_MAX, TOKEN_SHA256 } from '../config/cluster-entry.ts'
import { readClusterIssuers } from '../config/cluster-issuers.ts'
import type { GatewayConfig } from '../config/config.ts'
import { clusterPlaces } from '../config/directive-zones.ts'
import { IssuersError } from '../config/issuers.ts'
import { HttpError } from '../doh/http-error.ts'
import { jsonResponse, listTexts, streamOf, uncached } from '../doh/json-response.ts'
import { readBody } from '../doh/read-body.ts'
import { checkIssuerRoom, checkPlace } from './cluster-checks.ts'

const BODY_BYTES_MAX = 8 * 1024
const KEY_FIELDS: readonly string[] = ['publicKey', 'tokenSha256']
const FIELDS: readonly string[] = [...KEY_FIELDS, 'issuers']
/** Attempts of a change when others change the cluster meanwhile; each time one succeeds. */
const ATTEMPTS_MAX = 10

type Fields = Readonly<Record<string, unknown>>

/** What the routes need. */
type ClusterRoutesOptions = Pick<GatewayConfig, 'adminSha256s' | 'blocks' | 'clusters'> & {
  readonly directory?: DirectoryRuntime
  readonly tokenStore: Pick<TokenStore, 'replaceObjects'>
  /** Has this process or isolate read the directory, which has changed. */
  readonly reload: () => Promise<void>
  readonly host: Turns
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Creates the app with the operator's routes at and below `/v1/clusters`. */
export function createClusterRoutes(options: ClusterRoutesOptions): Hono {
  return new ClusterRoutes(options).app
}

class ClusterRoutes {
  readonly app = new Hono()
  private readonly options: ClusterRoutesOptions
  private readonly placesOf: ReturnType<typeof clusterPlaces>

  constructor(options: ClusterRoutesOptions) {
    this.options = options
    this.placesOf = clusterPlaces(options.blocks)
    const { app } = this
    app.get('/v1/clusters', (c) => this.list(c))
    app.put('/v1/clusters/:id', (c) => this.add(c, c.req.param('id')))
    app.delete('/v1/clusters/:id', (c) => this.remove(c, c.req.param('id')))
    app.put('/v1/clusters/:id/issuers', (c) => this.setIssuers(c, c.req.param('id')))
    app.post('/v1/clusters/:id/keys', (c) => this.addKeys(c, c.req.param('id')))
    app.delete('/v1/clusters/:id/keys/:key', (c) =>
      this.removeKeys(c, c.req.param('id'), c.req.param('key')),
    )
  }

  private async list(c: Context): Promise<Response> {
    await checkAdmin(c, this.options.adminSha256s)
    const { clusters, directory, host } = this.options
    const configured = [...clusters].map(([id, { publicKeyTexts }]) => ({
      id,
      source: 'CLUSTERS',
      publicKeys: publicKeyTexts,
      created: null,
      domains: this.domainsOf(id),
      issuers: [],
    }))
    const entries = (await directory?.store.list()) ?? []
    const listed = entries.filter(({ id }) => !clusters.has(id))
    const texts = listTexts('clusters', [...configured, ...listed], (one) =>
      'keys' in one ? this.describe(one) : one,
    )
    const headers = { 'content-type': 'application/json' }
    return uncached(200, streamOf(texts, createSharedPause(host)), headers)
  }

  private async add(c: Context, id: string): Promise<Response> {
    const { store } = await this.authorize(c, id)
    const createdMs = this.options.now()
    const fields = await readFields(c, FIELDS)
    const keys = [await readKeys(fields, createdMs)]
    const issuers = fields.issuers === undefined ? undefined : readIssuers(id, fields.issuers)
    const entry = { id, createdMs, keys, ...(issuers !== undefined && { issuers }) }
    checkPlace(this.placesOf(id))
    if (issuers !== undefined) checkIssuerRoom(await store.list(), [entry])
    const addition = await store.add(entry)
    if (addition === 'exists') {
      throw new HttpError(409, 'cluster_exists', `There is a cluster "${id}" already`)
    }
    if (addition === 'full') {
      const message = `There are ${DIRECTORY_MAX} clusters; remove some first`
      throw new HttpError(409, 'too_many', message)
    }
    await this.options.reload()
    return jsonResponse(201, this.describe(entry))
  }

  /** Removes the entry first, so that no reader or publisher is admitted any more. */
  private async remove(c: Context, id: string): Promise<Response> {
    const { store, removeSnapshots } = await this.authorize(c, id)
    const wasListed = await store.remove(id)
    const { removed } = await this.options.tokenStore.replaceObjects(id, [])
    if (wasListed || removed.length > 0) await this.options.reload()
    // Also what a failed removal, or a cluster that CLUSTERS had, has left.
    const hadSnapshots = await removeSnapshots(id)
    if (!wasListed && !hadSnapshots && removed.length === 0) throw unknownCluster()
    return new Response(null, { status: 204 })
  }

  private async addKeys(c: Context, id: string): Promise<Response> {
    const { store } = await this.authorize(c, id)
    const added = await readKeys(await readFields(c, KEY_FIELDS), this.options.now())
    return this.changeKeys(store, id, ({ keys }) => {
      if (keys.some(({ publicKey }) => publicKey === added.publicKey)) {
        throw new HttpError(409, 'key_exists', `Cluster "${id}" has this public key already`)
      }
      if (keys.length >= CLUSTER_KEYS_MAX) {
        const message = `Cluster "${id}" has ${CLUSTER_KEYS_MAX} keys; remove an old one first`
        throw new HttpError(409, 'too_many_keys', message)
      }
      return [added, ...keys]
    })
  }

  private async removeKeys(c: Context, id: string, key: string): Promise<Response> {
    const { store } = await this.authorize(c, id)
    return this.changeKeys(store, id, ({ keys }) => {
      const kept = keys.filter(({ publicKey }) => publicKey !== key)
      if (kept.length === keys.length) {
        throw new HttpError(404, 'unknown_key', `Cluster "${id}" has no such public key`)
      }
      if (kept.length > 0) return kept
      const message = `It is the only key of cluster "${id}"; add another one first`
      throw new HttpError(409, 'last_key', message)
    })
  }

  private changeKeys(
    store: DirectoryRuntime['store'],
    id: string,
    step: (entry: DirectoryEntry) => readonly ExporterKeys[],
  ): Promise<Response> {
    return this.change(store, id, (entry) => ({ ...entry, keys: step(entry) }))
  }

  private async setIssuers(c: Context, id: string): Promise<Response> {
    const { store } = await this.authorize(c, id)
    const issuers = readIssuers(id, await readValue(c))
    if (issuers !== undefined) checkIssuerRoom(await store.list(), [{ id, issuers }])
    return this.change(store, id, ({ issuers: _, ...entry }) => ({
      ...entry,
      ...(issuers !== undefined && { issuers }),
    }))
  }

  /** Changes an entry; starts again when the entry changes meanwhile. */
  private async change(
    store: DirectoryRuntime['store'],
    id: string,
    step: (entry: DirectoryEntry) => DirectoryEntry,
  ): Promise<Response> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const entry = (await store.list()).find((one) => one.id === id)
      if (entry === undefined) throw unknownCluster()
      const next = step(entry)
      if (!(await store.replace(entry, next))) continue
      await this.options.reload()
      return jsonResponse(200, this.describe(next))
    }
    throw new HttpError(503, 'busy', 'The cluster was changed by others meanwhile; try again', {
      'retry-after': '1',
    })
  }

  /** @throws {HttpError} 401, 400 for an invalid identifier, 409 for a cluster of CLUSTERS */
  private async authorize(c: Context, id: string): Promise<DirectoryRuntime> {
    const { adminSha256s, clusters, directory } = this.options
    await checkAdmin(c, adminSha256s)
    if (!CLUSTER_ID.test(id)) {
      const message = 'The identifier is not 1 to 63 characters of a-z, 0-9 and "-"'
      throw new HttpError(400, 'bad_id', message)
    }
    if (clusters.has(id)) {
      const message = `Cluster "${id}" is in the variable CLUSTERS; change it there`
      throw new HttpError(409, 'configured', message)
    }
    if (directory !== undefined) return directory
    throw new HttpError(404, 'no_directory', 'This gateway has the clusters of CLUSTERS only')
  }

  /** Describes a cluster, without hashes. */
  private describe({ id, createdMs, keys, issuers }: DirectoryEntry): object {
    return {
      id,
      source: 'directory',
      publicKeys: keys.map(({ publicKey }) => publicKey),
      created: new Date(createdMs).toISOString(),
      domains: this.domainsOf(id),
      issuers: issuers === undefined ? [] : parseJson(issuers),
    }
  }

  private domainsOf(id: string): readonly string[] {
    return this.placesOf(id).zones.map((zone) => formatName(zone).slice(0, -1))
  }
}

/** @throws {HttpError} 400 that names the field */
async function readKeys(
  { publicKey, tokenSha256 }: Fields,
  createdMs: number,
): Promise<ExporterKeys> {
  const isKey = typeof publicKey === 'string' && (await importPublicKey(publicKey)) !== undefined
  if (!isKey) throw badField('publicKey', 'is not 32 bytes in base64url')
  if (typeof tokenSha256 !== 'string' || !TOKEN_SHA256.test(tokenSha256)) {
    throw badField('tokenSha256', 'is not 64 lower-case hexadecimal digits')
  }
  return { publicKey, tokenSha256, createdMs }
}

/** Returns the issuers of a cluster as JSON, none for an empty list. @throws {HttpError} 400 */
function readIssuers(id: string, value: unknown): string | undefined {
  try {
    return readClusterIssuers(id, value).length === 0 ? undefined : JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof IssuersError)) throw error
    throw new HttpError(400, 'bad_field', error.message)
  }
}

async function readValue(c: Context): Promise<unknown> {
  const body = await readBody(c.req.raw, BODY_BYTES_MAX)
  return parseJson(new TextDecoder().decode(body))
}

async function readFields(c: Context, known: readonly string[]): Promise<Fields> {
  const value = await readValue(c)
  if (!isRecord(value)) throw new HttpError(400, 'bad_json', 'The body is not a JSON object')
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown !== undefined) throw badField(unknown, `is not one of ${known.join(', ')}`)
  return value
}

function badField(field: string, problem: string): HttpError {
  return new HttpError(400, 'bad_field', `"${field.slice(0, 40)}" ${problem}`)
}

function unknownCluster(): HttpError {
  return new HttpError(404, 'unknown_cluster', 'The directory has no cluster with this identifier')
}
