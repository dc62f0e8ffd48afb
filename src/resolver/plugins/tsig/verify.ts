/**
 * Verifies signatures and signs replies with shared secrets (RFC 8945 §5;
 * github.com/coredns/coredns, plugin/tsig/tsig.go).
 * @module
 */
import { concatBytes, EMPTY, readUint16 } from '../../../dns/bytes/bytes.ts'
import { nameKey, nameOf } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import type { Query } from '../../../dns/wire/query.ts'
import {
  appendTsig,
  type FoundTsig,
  sized,
  type Tsig,
  tsigTimers,
  tsigVariables,
  uint48,
  unsignedMessage,
  writeTsig,
} from '../../../dns/wire/tsig.ts'
import type { Host } from '../../contract/host.ts'
import type { MessageSigner } from '../../contract/message-signer.ts'

/** The secrets and functions for verifying. */
export type Verifier = {
  /** Returns the secret with a name's `nameKey`. */
  readonly secretOf: (key: string) => Uint8Array | undefined
  readonly hmac: TsigHost['hmac']
  /** Seconds since 1970. */
  readonly nowSeconds: () => number
}

/** The result of verifying a signature. */
export type Verdict = {
  /** 0 for a valid signature, otherwise the error of RFC 8945 §3. */
  readonly error: number
  /** Signs the replies; after an invalid signature it only names the error. */
  readonly signer: MessageSigner
}

/** Allowed clock difference, for replies and for requests that give none. */
const FUDGE_SECONDS = 300
const BADSIG = RCODE.BADVERS

/** Digests and MAC sizes by the `nameKey` of the algorithm's name (§6). */
const ALGORITHMS: ReadonlyMap<string, { readonly digest: Digest; readonly bytes: number }> =
  new Map(
    (
      [
        ['sha1', 20],
        ['sha224', 28],
        ['sha256', 32],
        ['sha384', 48],
        ['sha512', 64],
      ] as const
    ).map(([digest, bytes]) => [nameKey(nameOf(`hmac-${digest}`)), { digest, bytes }]),
  )

/** Verifies a signature; as in CoreDNS, unknown algorithms and truncated MACs are bad. */
export function verify(query: Query, found: FoundTsig, verifier: Verifier): Verdict {
  const { tsig } = found
  const secret = verifier.secretOf(nameKey(tsig.name))
  const algorithm = ALGORITHMS.get(nameKey(tsig.algorithm))
  const unsigned = (error: number): Verdict => ({ error, signer: unsignedReply(tsig, error) })
  if (secret === undefined) return unsigned(RCODE.BADKEY)
  if (algorithm === undefined) return unsigned(BADSIG)
  const { digest, bytes: macBytes } = algorithm
  const mac = (data: Uint8Array): Uint8Array => verifier.hmac(digest, secret, data)
  const nowSeconds = verifier.nowSeconds()
  const fudgeSeconds = tsig.fudgeSeconds || FUDGE_SECONDS
  // CoreDNS takes a missing time for the present.
  const timeSeconds = tsig.timeSeconds || nowSeconds
  const variables = tsigVariables({ ...tsig, timeSeconds, fudgeSeconds })
  const covered = concatBytes(unsignedMessage(query.bytes, found), variables)
  if (!equalsInConstantTime(mac(covered), tsig.mac)) return unsigned(BADSIG)
  const isInTime = Math.abs(nowSeconds - timeSeconds) <= fudgeSeconds
  const error = isInTime ? RCODE.NOERROR : RCODE.BADTIME
  return { error, signer: replySigner(tsig, error, { mac, macBytes, nowSeconds }) }
}

/** Names an error without a MAC: the secret is unknown or not the client's. */
function unsignedReply(tsig: Tsig, error: number): MessageSigner {
  const reply = replyTo(tsig, { error, timeSeconds: 0 })
  return {
    bytes: writeTsig(reply).length,
    sign: (message) => appendTsig(message, { ...reply, originalId: idOf(message) }),
  }
}

/** Signs the first message over the request's MAC, later ones over the last (§5.3.1). */
function replySigner(
  tsig: Tsig,
  error: number,
  by: {
    readonly mac: (data: Uint8Array) => Uint8Array
    readonly macBytes: number
    readonly nowSeconds: number
  },
): MessageSigner {
  const { mac, macBytes, nowSeconds } = by
  // A client with a wrong clock gets its own time and ours (§5.2.3).
  const isBadTime = error === RCODE.BADTIME
  const timeSeconds = isBadTime ? tsig.timeSeconds : nowSeconds
  const other = isBadTime ? uint48(nowSeconds) : EMPTY
  const reply = { ...replyTo(tsig, { error, timeSeconds }), other }
  let before = tsig.mac
  let isFirst = true
  return {
    bytes: writeTsig(reply).length + macBytes,
    sign: (message) => {
      const originalId = idOf(message)
      const own = { ...reply, originalId }
      const variables = isFirst ? tsigVariables(own) : tsigTimers(own)
      before = mac(concatBytes(sized(before), message, variables))
      isFirst = false
      return appendTsig(message, { ...own, mac: before })
    },
  }
}

function replyTo(
  { name, algorithm }: Tsig,
  { error, timeSeconds }: { readonly error: number; readonly timeSeconds: number },
): Tsig {
  return {
    ...{ name, ttlSeconds: 0, algorithm, timeSeconds, fudgeSeconds: FUDGE_SECONDS },
    ...{ mac: EMPTY, originalId: 0, error, other: EMPTY },
  }
}

function idOf(message: Uint8Array): number {
  return readUint16(message, 0)
}

/** Compares in constant time, so that timing reveals no bytes of a MAC. */
function equalsInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0)
  return difference === 0
}

/** A digest algorithm for HMAC. */
export type Digest = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512'

/** A host that authenticates messages. */
export type TsigHost = Host & {
  /** Returns the HMAC of data (RFC 2104). */
  readonly hmac: (digest: Digest, secret: Uint8Array, data: Uint8Array) => Uint8Array
}
