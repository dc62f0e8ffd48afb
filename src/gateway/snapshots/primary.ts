/**
 * Another gateway that this one follows over HTTP: its replica. What the primary sends needs no
 * trust where an exporter signed it; the list of tokens has no signature.
 * @module
 */
import { causeText, parseJson, recordOf } from '../../dns/bytes/unknown.ts'
import { MANIFEST_BYTES_MAX } from '../../snapshot/format/manifest.ts'
import { parseTokenUpdate, TOKENS_MAX, type TokenStore } from '../access/token-store.ts'
import { HttpError } from '../doh/http-error.ts'
import { readBody } from '../doh/read-body.ts'
import type { After } from '../timing/within.ts'
import { PUBLISHED_SHARD_BYTES_MAX, SIGNATURE_HEADER } from './publish-routes.ts'
import type { SnapshotOrigin } from './snapshot-follower.ts'

/** Response header of a manifest that an operator pinned. */
export const PINNED_HEADER = 'kubedoh-pinned'
/**
 * Response header of a replica: its identifier, then those of the replicas that it follows, with
 * spaces between them.
 */
export const REPLICAS_HEADER = 'kubedoh-replicas'
/** Most replicas between a replica and the gateway to which exporters publish. */
const REPLICAS_MAX = 4
/** How long a response may take beyond the wait that the request prefers. */
const RESPONSE_MS = 30_000
/** Least time from one request to the next: after a change, and without one. */
const CHANGED_MS_MIN = 50
const SAME_MS_MIN = 1000
/** A watch that ends within this time sends no further request. */
const WAIT_MS_MIN = 1000
/** A record has two hashes, a name and what its token may see. */
const TOKEN_LIST_BYTES_MAX: number = TOKENS_MAX * 4096

/** Address of a primary, and how to reach it. */
export type PrimaryOptions = {
  /** `https://HOST`, optionally with a path above the routes. */
  readonly url: string
  /** A token whose hash the primary has in REPLICA_TOKEN_SHA256. */
  readonly token: string
  /** Identifies this replica: letters and digits that no other one has. */
  readonly id: string
  readonly fetch: (url: string, init: PrimaryRequest) => Promise<Response>
  readonly after: After
  /** Milliseconds since some moment, by a monotonic clock. */
  readonly elapsed: () => number
}

/** A request to a primary. */
export type PrimaryRequest = {
  readonly headers: Record<string, string>
  readonly redirect: 'manual'
  readonly signal: AbortSignal
}

/** What a primary answers: its entity tag, and a body unless the version is the known one. */
type Reply = {
  readonly response: Response
  readonly body: Uint8Array | undefined
}

type Watch = {
  readonly path: string
  readonly bytesMax: number
  /** The entity tag of what the follower has, without quotes; '' for none. */
  readonly known: string
  readonly waitMs: number
  /** Gets each reply, and `undefined` while the primary has nothing yet. */
  readonly take: (reply: Reply | undefined) => Promise<void> | void
}

/** A gateway that this one follows. All that fails throws an {@link HttpError} with status 503. */
export class Primary {
  /** Its address, for messages. */
  readonly url: string
  private readonly options: PrimaryOptions
  private above: readonly string[] = []

  constructor(options: PrimaryOptions) {
    this.options = options
    this.url = options.url.replace(/\/+$/, '')
  }

  /** This replica's identifier, and those of the replicas that it follows. */
  get replicas(): readonly string[] {
    return [this.options.id, ...this.above]
  }

  /** Returns the origin of a cluster's snapshots. */
  originOf(cluster: string): SnapshotOrigin {
    const base = `/v1/clusters/${encodeURIComponent(cluster)}`
    const path = `${base}/manifest`
    const follow: NonNullable<SnapshotOrigin['follow']> = (known, waitMs, take) =>
      this.watch({
        path,
        bytesMax: MANIFEST_BYTES_MAX,
        known: manifestTag(known),
        waitMs,
        take: async (reply) => {
          const manifest = reply && manifestIn(reply)
          await take(manifest === undefined ? {} : { manifest })
        },
      })
    return {
      follow,
      readManifest: async () => {
        const reply = await this.get(path, { bytesMax: MANIFEST_BYTES_MAX })
        return reply && manifestIn(reply)
      },
      readShard: async (sha256) => {
        const reply = await this.get(`${base}/shards/${sha256}`, {
          bytesMax: PUBLISHED_SHARD_BYTES_MAX,
        })
        return reply?.body
      },
    }
  }

  /** The tokens of the primary, which only the primary changes. */
  get tokenStore(): TokenStore {
    const { refuse } = this
    const changes = {
      ...{ add: refuse, addAll: refuse, replace: refuse, remove: refuse, replaceObjects: refuse },
    }
    const path = '/v1/token-list'
    return {
      ...changes,
      // The primary notes the days of the requests that it gets itself.
      noteUse: async () => undefined,
      list: async () => {
        const reply = await this.get(path, { bytesMax: TOKEN_LIST_BYTES_MAX })
        return (reply && tokensIn(reply))?.records ?? []
      },
      follow: (known, waitMs, take) =>
        this.watch({
          path,
          bytesMax: TOKEN_LIST_BYTES_MAX,
          known,
          waitMs,
          take: (reply) => take(reply && tokensIn(reply)),
        }),
    }
  }

  /** Refuses what only the primary may do. @throws {HttpError} 403 */
  readonly refuse = (): Promise<never> => {
    const message = `This gateway is a replica; send this to ${this.url}`
    return Promise.reject(new HttpError(403, 'replica', message))
  }

  /** Reads at once, then waits for changes until `waitMs` have passed. */
  private async watch({ path, bytesMax, known, waitMs, take }: Watch): Promise<void> {
    const { elapsed, after } = this.options
    const endMs = elapsed() + waitMs
    let tag = known
    for (let preferMs = 0; ; preferMs = endMs - elapsed()) {
      const begunMs = elapsed()
      const reply = await this.get(path, { bytesMax, known: tag, waitMs: preferMs })
      const isNew = reply?.body !== undefined
      if (isNew) tag = tagOf(reply.response)
      await take(reply)
      if (endMs - elapsed() < WAIT_MS_MIN) return
      // The first request shows that the primary is there; the others wait for a change.
      const leastMs = isNew || preferMs === 0 ? CHANGED_MS_MIN : SAME_MS_MIN
      const restMs = begunMs + leastMs - elapsed()
      if (restMs > 0) await new Promise<void>((resolve) => after(restMs, resolve))
    }
  }

  /** Resolves with `undefined` where the primary has nothing yet, or not that shard. */
  private async get(
    path: string,
    {
      bytesMax,
      known = '',
      waitMs = 0,
    }: { readonly bytesMax: number; readonly known?: string; readonly waitMs?: number },
  ): Promise<Reply | undefined> {
    const { token, after } = this.options
    const aborter = new AbortController()
    const late = new Error(`no response after ${RESPONSE_MS / 1000} s`)
    const cancel = after(waitMs + RESPONSE_MS, () => aborter.abort(late))
    const seconds = Math.floor(waitMs / 1000)
    try {
      const response = await this.options.fetch(this.url + path, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(known !== '' && { 'if-none-match': `"${known}"` }),
          ...(seconds > 0 && { prefer: `wait=${seconds}` }),
        },
        redirect: 'manual',
        signal: aborter.signal,
      })
      this.noteReplicas(response)
      return await replyOf(response, bytesMax)
    } catch (error) {
      const why = causeText(error).replaceAll(token, '…')
      throw new HttpError(503, 'primary_unavailable', `${this.url}: ${why}`, { 'retry-after': '1' })
    } finally {
      cancel()
    }
  }

  /** @throws {Error} for replicas that follow each other, or one too many */
  private noteReplicas({ headers }: Response): void {
    const words = (headers.get(REPLICAS_HEADER) ?? '').split(' ').filter((word) => word !== '')
    this.above = words.slice(0, REPLICAS_MAX)
    if (words.includes(this.options.id)) throw new Error('it follows this gateway itself')
    if (words.length >= REPLICAS_MAX) throw new Error(`it follows ${REPLICAS_MAX} others already`)
  }
}

/** Returns the entity tag of a manifest's version, without quotes: a tag has no spaces. */
export function manifestTag(version: string): string {
  return version.replaceAll(' ', '.')
}

async function replyOf(response: Response, bytesMax: number): Promise<Reply | undefined> {
  const { status } = response
  if (status === 304) return { response, body: undefined }
  const body = await readBody(response, bytesMax)
  if (status === 200) return { response, body }
  const { code, message } = recordOf(recordOf(parseJson(new TextDecoder().decode(body))).error)
  if (status === 404 && (code === 'nothing_yet' || code === 'unknown_shard')) return undefined
  throw new Error(`status ${status}: ${typeof message === 'string' ? message : 'no gateway'}`)
}

function manifestIn({ response, body }: Reply): SnapshotManifest | undefined {
  if (body === undefined) return undefined
  const { headers } = response
  const signature = headers.get(SIGNATURE_HEADER) ?? ''
  return { bytes: body, signature, ...(headers.has(PINNED_HEADER) && { isPinned: true as const }) }
}

type SnapshotManifest = NonNullable<Awaited<ReturnType<SnapshotOrigin['readManifest']>>>

function tokensIn({ body }: Reply): ReturnType<typeof parseTokenUpdate> | undefined {
  return body && parseTokenUpdate(new TextDecoder().decode(body))
}

/** Caches that compress a response weaken its tag. */
function tagOf({ headers }: Response): string {
  return /^(?:W\/)?"([!#-~]*)"$/.exec(headers.get('etag') ?? '')?.[1] ?? ''
}
