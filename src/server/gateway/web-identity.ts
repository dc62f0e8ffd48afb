/**
 * Keys for S3 by a token of the cluster, as EKS gives to a Pod whose ServiceAccount has a role
 * (docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html).
 * @module
 */
import { readBody } from '../../gateway/doh/read-body.ts'
import type { S3Credentials } from './s3-client.ts'
import { fieldIn } from './s3-xml.ts'

/** How long the exchange may take. */
const EXCHANGE_MS = 5000
/** Largest response. */
const RESPONSE_BYTES_MAX = 64 * 1024
/** How long before they end keys are replaced. */
const EARLY_MS = 5 * 60_000
const SESSION_NAME = 'kubedoh'

/** What the exchange needs. */
export type WebIdentityOptions = {
  /** URL of the Security Token Service. */
  readonly url: string
  /** ARN of the role. */
  readonly role: string
  /** Reads the token, which the kubelet replaces. */
  readonly readToken: () => Promise<string>
  readonly fetch: typeof fetch
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Returns a function that returns the role's keys, and exchanges the token for new ones from five
 * minutes before these end; nobody waits for that until they have ended. It throws an error when
 * the exchange fails and the previous ones have ended.
 */
export function webIdentity(options: WebIdentityOptions): () => Promise<S3Credentials> {
  let last: Session | undefined
  let pending: Promise<Session> | undefined
  const renew = async (): Promise<Session> => {
    try {
      last = await exchange(options)
      return last
    } finally {
      pending = undefined
    }
  }
  return async () => {
    const restMs = last === undefined ? 0 : last.endMs - options.now()
    if (last !== undefined && restMs >= EARLY_MS) return last.keys
    pending ??= renew()
    if (last === undefined || restMs <= 0) return (await pending).keys
    void pending.catch(() => undefined)
    return last.keys
  }
}

type Session = { readonly keys: S3Credentials; readonly endMs: number }

async function exchange({ url, role, readToken, fetch }: WebIdentityOptions): Promise<Session> {
  const token = (await readToken()).trim()
  const response = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: SESSION_NAME,
      WebIdentityToken: token,
    }),
    redirect: 'manual',
    signal: AbortSignal.timeout(EXCHANGE_MS),
  })
  const text = new TextDecoder().decode(await readBody(response, RESPONSE_BYTES_MAX))
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => fieldIn(text, name))
  const endMs = Date.parse(expiration ?? '')
  if (
    response.status !== 200 ||
    accessKeyId === undefined ||
    secretAccessKey === undefined ||
    sessionToken === undefined ||
    Number.isNaN(endMs)
  ) {
    const why = fieldIn(text, 'Message') ?? 'no keys in the response'
    throw new Error(`${url} gives no keys for the role ${role}: status ${response.status}, ${why}`)
  }
  return { keys: { accessKeyId, secretAccessKey, sessionToken }, endMs }
}
