/**
 * The store of `--store s3://BUCKET/PREFIX`: where it is, by which keys, and whether it can be
 * used.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { errorText } from '../../dns/bytes/unknown.ts'
import type { Log } from '../../dns/telemetry/log.ts'
import { type GatewayStore, StoreError } from '../../gateway/snapshots/store.ts'
import { LOOPBACK } from '../http/doh-listener.ts'
import { CommandError } from '../node/output.ts'
import type { Bucket } from './bucket.ts'
import { checkBucket, checkedBucket } from './bucket-check.ts'
import { BucketVersions } from './bucket-records.ts'
import { createBucketStore, removeFromBucket } from './bucket-store.ts'
import { RecordList } from './record-list.ts'
import {
  createRecordDirectory,
  createRecordTokenStore,
  DIRECTORY_LINES,
  TOKEN_LINES,
} from './record-stores.ts'
import { createS3Bucket, type S3Credentials, type S3Options } from './s3-client.ts'
import { warnUnwritable } from './store-folder.ts'
import { webIdentity } from './web-identity.ts'

const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9._/-]{0,256}))?$/
const NAME_BYTES = 8

/** Where the bucket is. */
export type S3Place = {
  readonly bucket: string
  /** Of all keys: '', or with a slash at its end. */
  readonly prefix: string
}

/** What decides how the bucket is reached. */
export type S3Environment = {
  /** Reads a variable; '' for one that is not set. */
  readonly env: (name: string) => string
  /** Whether an endpoint on another machine may be without TLS. */
  readonly isInsecure: boolean
}

/** Parses `s3://BUCKET/PREFIX`; `undefined` for anything else. */
export function parseS3Place(text: string): S3Place | undefined {
  const [, bucket, path = ''] = PLACE.exec(text) ?? []
  if (bucket === undefined) return undefined
  const parts = path.split('/').filter((part) => part !== '')
  if (parts.includes('.') || parts.includes('..')) return undefined
  return { bucket, prefix: parts.map((part) => `${part}/`).join('') }
}

/**
 * Reads how to reach the bucket from the variables of AWS's own programs.
 * @throws {CommandError} when a variable is missing or invalid
 */
export function readS3Options({ bucket }: S3Place, from: S3Environment): S3Options {
  const endpoint = readEndpoint(from, {
    AWS_ENDPOINT_URL_S3: from.env('AWS_ENDPOINT_URL_S3'),
    AWS_ENDPOINT_URL: from.env('AWS_ENDPOINT_URL'),
  })
  const region = from.env('AWS_REGION') || (endpoint === '' ? '' : 'us-east-1')
  if (region === '')
    throw new CommandError('--store s3:// needs AWS_REGION, the region of the bucket')
  if (!/^[a-z0-9-]{1,40}$/.test(region))
    throw new CommandError(`AWS_REGION is "${region}", no region`)
  const url = endpoint === '' ? urlAtAws(bucket, region) : `${endpoint}/${bucket}`
  return { url, region, credentials: readCredentials(from, region) }
}

/**
 * Opens the store at `s3://BUCKET/PREFIX`, and checks that it can be used. Logs a warning when the
 * bucket can be read only, or is away: the check is made before the first write then.
 * @throws {CommandError} when it cannot be used
 */
export async function openS3Store(
  text: string,
  from: S3Environment,
  log: Log,
): Promise<GatewayStore> {
  const place = parseS3Place(text)
  if (place === undefined) {
    throw new CommandError(`--store is "${text}", expected s3://BUCKET/PREFIX`)
  }
  const { prefix } = place
  const bucket = createS3Bucket(readS3Options(place, from))
  try {
    await checkBucket(bucket, prefix, Date.now())
  } catch (error) {
    const reason = await whyUnwritable({ bucket, prefix, text }, error)
    warnUnwritable(log, text, reason)
  }
  return createStoreInBucket(checkedBucket(bucket, prefix, Date.now), prefix, log)
}

/** Creates the store in a bucket; logs broken lines of its tokens. */
export function createStoreInBucket(bucket: Bucket, prefix: string, log: Log): GatewayStore {
  const prefixOf = (cluster: string): string => `${prefix}clusters/${cluster}/`
  const newName = (): string => randomBytes(NAME_BYTES).toString('hex')
  const report =
    (message: string) =>
    (object: string, line: number): void =>
      log({ level: 'warning', message, object, line })
  const tokens = new BucketVersions(bucket, `${prefix}tokens.jsonl`, TOKEN_LINES, {
    keepsHistory: true,
    now: Date.now,
    onBroken: report('a line of the token file is broken and authorizes nobody'),
  })
  const clusters = new BucketVersions(bucket, `${prefix}clusters.jsonl`, DIRECTORY_LINES, {
    keepsHistory: false,
    now: Date.now,
    onBroken: report('a line of the directory of clusters is broken'),
  })
  return {
    clusterStore: (cluster) =>
      createBucketStore(bucket, prefixOf(cluster), { now: Date.now, newName }),
    tokenStore: createRecordTokenStore(new RecordList(tokens)),
    directory: {
      store: createRecordDirectory(new RecordList(clusters)),
      removeSnapshots: (cluster) => removeFromBucket(bucket, prefixOf(cluster)),
    },
  }
}

/**
 * Returns why the bucket cannot be written for now.
 * @throws {CommandError} when it cannot be read either, though its server answers
 */
async function whyUnwritable(
  {
    bucket,
    prefix,
    text,
  }: { readonly bucket: Bucket; readonly prefix: string; readonly text: string },
  error: unknown,
): Promise<string> {
  const refused = (why: string): CommandError =>
    new CommandError(`Cannot use --store ${text}: ${why}`)
  if (!(error instanceof StoreError)) throw refused(errorText(error))
  const reason = errorText(error.cause)
  if (error.code === 'store_unavailable' && !/: status (?!408|429)[34]\d\d/.test(reason))
    return reason
  if (error.code !== 'no_access') throw refused(reason)
  try {
    await bucket.list(`${prefix}clusters/`)
  } catch {
    throw refused(reason)
  }
  return reason
}

/** A name with dots is in no certificate as a host of S3. */
function urlAtAws(bucket: string, region: string): string {
  const host = `s3.${domainAtAws(region)}`
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`
}

function domainAtAws(region: string): string {
  return `${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

/**
 * Reads a URL, without a slash at its end, from the first variable that is set; '' for none.
 * @throws {CommandError} for an invalid one, and for one that sends secrets unencrypted
 */
function readEndpoint(
  { isInsecure }: S3Environment,
  variables: Readonly<Record<string, string>>,
): string {
  const [name, text] = Object.entries(variables).find(([, value]) => value !== '') ?? []
  if (name === undefined || text === undefined) return ''
  const url = URL.parse(text)
  const isUrl = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash === ''
  // Keys have variables of their own, and `fetch` takes none in a URL.
  if (!isUrl || url.username + url.password !== '') {
    throw new CommandError(`${name} is not a URL such as https://HOST`)
  }
  if (url.protocol === 'http:' && !isInsecure && !LOOPBACK.has(url.hostname)) {
    const what = 'hashes of tokens, or the token of a role, unencrypted'
    throw new CommandError(`${name} ${text} would send ${what}; use https:// or pass --insecure`)
  }
  return text.replace(/\/+$/, '')
}

/** @throws {CommandError} without keys and without a role */
function readCredentials(from: S3Environment, region: string): () => Promise<S3Credentials> {
  const [accessKeyId, secretAccessKey] = [
    from.env('AWS_ACCESS_KEY_ID'),
    from.env('AWS_SECRET_ACCESS_KEY'),
  ]
  const sessionToken = from.env('AWS_SESSION_TOKEN')
  if (accessKeyId !== '' && secretAccessKey !== '') {
    const keys = { accessKeyId, secretAccessKey, ...(sessionToken !== '' && { sessionToken }) }
    return () => Promise.resolve(keys)
  }
  const [role, tokenFile] = [from.env('AWS_ROLE_ARN'), from.env('AWS_WEB_IDENTITY_TOKEN_FILE')]
  if (role === '' || tokenFile === '') {
    throw new CommandError(
      '--store s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and ' +
        'AWS_WEB_IDENTITY_TOKEN_FILE',
    )
  }
  const given = readEndpoint(from, { AWS_ENDPOINT_URL_STS: from.env('AWS_ENDPOINT_URL_STS') })
  const url = given || `https://sts.${domainAtAws(region)}`
  return webIdentity({
    url,
    role,
    readToken: () => readFile(tokenFile, 'utf8'),
    fetch,
    now: Date.now,
  })
}
