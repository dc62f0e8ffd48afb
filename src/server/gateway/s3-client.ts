/**
 * A bucket of S3, or of a server that speaks its protocol. The package signs requests
 * (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-authenticating-requests.html); what is sent, and
 * for how long, is decided here.
 * @module
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { EMPTY, equalBytes } from '../../dns/bytes/bytes.ts'
import { causeText } from '../../dns/bytes/unknown.ts'
import { TOKENS_MAX } from '../../gateway/access/token-store.ts'
import { readBody } from '../../gateway/doh/read-body.ts'
import { StoreError } from '../../gateway/snapshots/store.ts'
import type { Bucket, BucketObject, ListedObject } from './bucket.ts'
import { fieldIn, parseListing } from './s3-xml.ts'

/** How long a call may take, with all its attempts. */
const REQUEST_MS = 5000
/** Attempts of a call that the server refuses because it is busy, and the first pause. */
const ATTEMPTS_MAX = 3
const PAUSE_MS = 50
/**
 * Largest object, also to write: the tokens, each of which has two hashes, a name and what it may
 * see.
 */
const OBJECT_BYTES_MAX: number = TOKENS_MAX * 4096
/** Largest list of a thousand objects, and largest error. */
const XML_BYTES_MAX = 4 * 1024 * 1024
/** Lists of a thousand objects that are read of one prefix. */
const PAGES_MAX = 100
const WRITTEN_HEADER = 'x-amz-meta-written-ms'

/** Keys of an account, or of a session. */
export type S3Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** What the client needs. */
export type S3Options = {
  /** URL of the bucket, without a slash at its end. */
  readonly url: string
  readonly region: string
  /** Returns the keys to sign with. @throws {Error} when there are none for now */
  readonly credentials: () => Promise<S3Credentials>
  readonly fetch?: typeof fetch
}

type Call = {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Statuses that are no errors. */
  readonly takes: readonly number[]
}

/** Creates the client; sends nothing. */
export function createS3Bucket(options: S3Options): Bucket {
  const client = new S3Client(options)
  const get: Bucket['get'] = async (key, known) => {
    const headers = known && { 'if-none-match': known.etag }
    const response = await client.send({
      method: 'GET',
      key,
      takes: [200, 304, 404],
      ...(headers && { headers }),
    })
    if (response.status === 304) return known
    return response.status === 404 ? undefined : objectOf(response)
  }
  const put = (key: string, body: Uint8Array, writtenMs: number): Call => {
    // It would be there, and nobody could read it.
    if (body.length > OBJECT_BYTES_MAX) {
      throw new StoreError('ENOSPC', new Error(`${key} would have over ${OBJECT_BYTES_MAX} bytes`))
    }
    const headers = { [WRITTEN_HEADER]: String(writtenMs) }
    return { method: 'PUT', key, body, headers, takes: [200] }
  }
  return {
    get,
    writtenMs: async (key) => {
      const { status, headers } = await client.send({ method: 'HEAD', key, takes: [200, 404] })
      return status === 404 ? undefined : writtenMsOf(headers)
    },
    put: async (key, bytes, writtenMs) => void (await client.send(put(key, bytes, writtenMs))),
    swap: async (key, bytes, { before, writtenMs }) => {
      const call = put(key, bytes, writtenMs)
      const condition = before === undefined ? { 'if-none-match': '*' } : { 'if-match': before }
      const headers = { ...call.headers, ...condition }
      try {
        // 404: removed meanwhile; 409: another conditional write is under way.
        const response = await client.send({ ...call, headers, takes: [200, 404, 409, 412] })
        if (response.status === 200) return etagOf(response.headers)
        const { status, attempt } = response
        if (status === 404 && before === undefined) {
          throw client.error(status, 'the bucket does not exist')
        }
        if (attempt === 1) return undefined
        throw client.error(status, `after attempt ${attempt - 1} failed`)
      } catch (error) {
        // Without a response, or after an error, nobody knows whether the write was made.
        const now = await get(key)
        if (now !== undefined && equalBytes(now.bytes, bytes)) return now.etag
        throw error
      }
    },
    list: (prefix) => list(client, prefix),
    remove: async (key) =>
      void (await client.send({ method: 'DELETE', key, takes: [200, 204, 404] })),
  }
}

async function list(client: S3Client, prefix: string): Promise<readonly ListedObject[]> {
  const objects: ListedObject[] = []
  let next: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const after = next === undefined ? {} : { 'continuation-token': next }
    const query = { 'list-type': '2', prefix, ...after }
    const listing = parseListing((await client.send({ method: 'GET', query, takes: [200] })).body)
    objects.push(...listing.objects)
    next = listing.next
    if (next === undefined) return objects
  }
  throw new StoreError('S3', new Error(`${prefix} has more than ${PAGES_MAX * 1000} objects`))
}

type Reply = { readonly status: number; readonly headers: Headers; readonly body: Uint8Array }
/** A reply, and how many requests it took. */
type Outcome = Reply & { readonly attempt: number }

class S3Client {
  private readonly options: S3Options
  private readonly fetch: typeof fetch
  /** Keys that are derived from the secret for one day. */
  private readonly derived = new Map<string, ArrayBuffer>()

  constructor(options: S3Options) {
    this.options = options
    this.fetch = options.fetch ?? fetch
  }

  /** Sends a request, again while the server is busy. @throws {StoreError} for other statuses */
  async send(call: Call): Promise<Outcome> {
    const signal = AbortSignal.timeout(REQUEST_MS)
    for (let attempt = 1; ; attempt++) {
      const reply = await this.attempt(call, signal)
      if (call.takes.includes(reply.status)) return { ...reply, attempt }
      const isBusy = reply.status === 429 || reply.status === 503
      if (!isBusy || attempt >= ATTEMPTS_MAX) throw this.error(reply.status, textOf(reply))
      await sleep(PAUSE_MS * 2 ** attempt)
    }
  }

  /** Returns the error of a status. */
  error(status: number, why: string): StoreError {
    const code = status === 401 || status === 403 ? 'S3_DENIED' : 'S3'
    return new StoreError(code, new Error(`${this.options.url}: status ${status}, ${why}`))
  }

  private async attempt(call: Call, signal: AbortSignal): Promise<Reply> {
    try {
      const { url, method, headers } = await this.sign(call)
      const { body } = call
      const response = await this.fetch(url, {
        method,
        headers,
        ...(body && { body: new Uint8Array(body) }),
        redirect: 'manual',
        signal,
      })
      const bytesMax = response.status === 200 ? OBJECT_BYTES_MAX : XML_BYTES_MAX
      const read = method === 'HEAD' ? EMPTY : await readBody(response, bytesMax)
      return { status: response.status, headers: response.headers, body: read }
    } catch (error) {
      const why = signal.aborted ? `no response within ${REQUEST_MS / 1000} s` : causeText(error)
      throw new StoreError('S3', new Error(`${this.options.url}: ${why}`))
    }
  }

  private async sign({
    method,
    key = '',
    query,
    headers,
    body,
  }: Call): ReturnType<AwsV4Signer['sign']> {
    const { url, region, credentials } = this.options
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
    return new AwsV4Signer({
      ...(await credentials()),
      method,
      url: `${url}/${key}${search}`,
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? EMPTY)
          .digest('hex'),
      },
      service: 's3',
      region,
      cache: this.derived,
    }).sign()
  }
}

function objectOf({ headers, body }: Reply): BucketObject {
  return { etag: etagOf(headers), bytes: body, writtenMs: writtenMsOf(headers) }
}

/** @throws {StoreError} without one: nothing could be compared */
function etagOf(headers: Headers): string {
  const etag = headers.get('etag')
  if (etag !== null && etag !== '') return etag
  throw new StoreError('S3', new Error('the server sends no entity tags'))
}

/**
 * Returns the time that the writer gave, or that of the server for an object of another
 * program.
 */
function writtenMsOf(headers: Headers): number {
  const writtenMs = Number(headers.get(WRITTEN_HEADER) ?? Number.NaN)
  if (Number.isSafeInteger(writtenMs)) return writtenMs
  const modifiedMs = Date.parse(headers.get('last-modified') ?? '')
  return Number.isNaN(modifiedMs) ? 0 : modifiedMs
}

/** Returns the code and message of an error, and where the bucket is if that is the reason. */
function textOf({ headers, body }: Reply): string {
  const text = new TextDecoder().decode(body)
  const region = headers.get('x-amz-bucket-region')
  const words = [fieldIn(text, 'Code'), fieldIn(text, 'Message')].filter((one) => one !== undefined)
  if (region !== null) words.push(`the bucket is in the region ${region}`)
  return words.length === 0 ? 'without a reason' : words.join(': ')
}
