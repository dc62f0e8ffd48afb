/**
 * Messages signed by secrets (TSIG), and what the signatures of replies are worth, by Node's
 * cryptography.
 * @module
 */
import { createHmac } from 'node:crypto'
import { concatBytes, EMPTY, equalBytes, readUint16 } from '../src/dns/bytes/bytes.ts'
import { formatName, nameOf } from '../src/dns/names/name.ts'
import { formatRcode } from '../src/dns/names/rcode.ts'
import { WireReader } from '../src/dns/wire/rdata-wire.ts'
import {
  appendTsig,
  findTsig,
  sized,
  type Tsig,
  tsigTimers,
  tsigVariables,
  unsignedMessage,
} from '../src/dns/wire/tsig.ts'

/** How to sign. */
export type Signing = {
  readonly key: string
  /** In base64. */
  readonly secret: string
  /** `hmac-sha256` when left out. */
  readonly algorithm?: string
  readonly timeSeconds: number
  readonly fudgeSeconds?: number
  /** Bytes of the MAC to keep; all when left out. */
  readonly macBytes?: number
  readonly ttlSeconds?: number
}

/** A signed message, and its MAC. */
export type SignedMessage = { readonly message: Uint8Array; readonly mac: Uint8Array }

/** Signs a message. */
export function signMessage(message: Uint8Array, signing: Signing): SignedMessage {
  const { key, secret, algorithm = 'hmac-sha256', timeSeconds } = signing
  const { fudgeSeconds = 300, macBytes, ttlSeconds = 0 } = signing
  const tsig: Tsig = {
    ...{ name: nameOf(key), ttlSeconds, algorithm: nameOf(algorithm), timeSeconds },
    ...{ fudgeSeconds, mac: EMPTY, originalId: readUint16(message, 0), error: 0, other: EMPTY },
  }
  const mac = hmac(tsig, secret, concatBytes(message, tsigVariables(tsig))).subarray(0, macBytes)
  return { message: appendTsig(message, { ...tsig, mac }), mac }
}

/**
 * Says of the signature of a reply `KEY ALGORITHM ERROR fudge F other N time T`, and whether it is
 * `good`, `bad` or `empty`; `unsigned` when there is none.
 * @param asked what the request was signed with, and its MAC
 * @returns also the MAC, which goes before that of the next message
 */
export function describeSignature(
  reply: Uint8Array,
  asked: Signing & { readonly mac: Uint8Array },
  isFirst = true,
): { readonly text: string; readonly mac: Uint8Array } {
  const found = findTsig({ bytes: reply, questionEnd: questionEnd(reply) })
  if (found === undefined) return { text: 'unsigned', mac: EMPTY }
  if (found === 'malformed') return { text: 'malformed', mac: EMPTY }
  const { tsig } = found
  const variables = isFirst ? tsigVariables(tsig) : tsigTimers(tsig)
  const covered = [sized(asked.mac), unsignedMessage(reply, found), variables]
  const mac = hmac(tsig, asked.secret, concatBytes(...covered))
  const worth = tsig.mac.length === 0 ? 'empty' : equalBytes(mac, tsig.mac) ? 'good' : 'bad'
  const words = [formatName(tsig.name), formatName(tsig.algorithm), formatRcode(tsig.error)]
  const numbers = `fudge ${tsig.fudgeSeconds} other ${tsig.other.length} time ${tsig.timeSeconds}`
  return { text: `${words.join(' ')} ${numbers} ${worth}`, mac: tsig.mac }
}

/** An algorithm that nobody knows signs as another does: its signature is never looked at. */
function hmac({ algorithm }: Tsig, secret: string, data: Uint8Array): Uint8Array {
  const digest =
    /^hmac-(sha(?:1|224|256|384|512))\.$/i.exec(formatName(algorithm))?.[1]?.toLowerCase() ??
    'sha256'
  return createHmac(digest, Buffer.from(secret, 'base64')).update(data).digest()
}

function questionEnd(message: Uint8Array): number {
  const reader = new WireReader(message, 12)
  for (let left = readUint16(message, 4); left > 0; left--) {
    reader.name()
    reader.uint32()
  }
  return reader.at
}
