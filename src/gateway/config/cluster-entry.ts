/**
 * A cluster that may publish, as configured: the keys and tokens of its exporter. Several of each
 * overlap while they rotate.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'
import { CLUSTER_ID } from '../../snapshot/format/manifest.ts'
import { importPublicKey, type PublicKey } from '../../snapshot/format/signature.ts'

/** Most public keys, and most tokens, of a cluster. */
export const CLUSTER_KEYS_MAX = 4

/** A cluster that may publish. */
export type ClusterConfig = {
  /** The keys that verify its manifests: any of them does. */
  readonly publicKey: PublicKey
  /** The keys as configured: each 32 bytes in base64url. */
  readonly publicKeyTexts: readonly string[]
  /** SHA-256 of the tokens that its exporter may have, in hexadecimal digits. */
  readonly tokenSha256s: readonly string[]
}

/** A cluster that is not configured as it should be; the message names the field. */
export class ClusterEntryError extends Error {
  override readonly name = 'ClusterEntryError'
}

/** The SHA-256 of a token, in hexadecimal digits. */
export const TOKEN_SHA256: RegExp = /^[0-9a-f]{64}$/

/**
 * Reads a cluster's entry: `publicKey`, `publicKeys` or both, and `tokenSha256`, `tokenSha256s` or
 * both.
 * @throws {ClusterEntryError} for an invalid identifier or entry
 */
export async function readClusterEntry(id: string, value: unknown): Promise<ClusterConfig> {
  if (!CLUSTER_ID.test(id)) {
    throw new ClusterEntryError(`CLUSTERS: "${id}" is not made of a-z, 0-9 and "-"`)
  }
  const fields = isRecord(value) ? value : {}
  const keys = textsOf(fields, 'publicKey', id)
  const tokens = textsOf(fields, 'tokenSha256', id)
  const imported: CryptoKey[] = []
  for (const { text, field } of keys) {
    const key = await importPublicKey(text)
    if (key === undefined) throw new ClusterEntryError(`${field} is not 32 bytes in base64url`)
    imported.push(key)
  }
  const wrong = tokens.find(({ text }) => !TOKEN_SHA256.test(text))
  if (wrong !== undefined)
    throw new ClusterEntryError(`${wrong.field} is not 64 hexadecimal digits`)
  return {
    publicKey: imported,
    publicKeyTexts: keys.map(({ text }) => text),
    tokenSha256s: tokens.map(({ text }) => text),
  }
}

type Named = { readonly text: string; readonly field: string }

/** Returns the texts of a field and of the list beside it, each once, with their places. */
function textsOf(
  fields: Readonly<Record<string, unknown>>,
  name: 'publicKey' | 'tokenSha256',
  id: string,
): readonly Named[] {
  const field = `CLUSTERS.${id}.${name}`
  const { [name]: one, [`${name}s`]: list } = fields
  if (list !== undefined && !Array.isArray(list)) {
    throw new ClusterEntryError(`${field}s is not a list`)
  }
  const more = (list ?? []).map(
    (value: unknown, i: number): Named => ({
      text: typeof value === 'string' ? value : '',
      field: `${field}s[${i}]`,
    }),
  )
  const own = { text: typeof one === 'string' ? one : '', field }
  // Without either, the error names the field that most clusters have.
  const all = one === undefined && more.length > 0 ? more : [own, ...more]
  const distinct = new Map<string, Named>()
  for (const named of all) if (!distinct.has(named.text)) distinct.set(named.text, named)
  if (distinct.size > CLUSTER_KEYS_MAX) {
    throw new ClusterEntryError(`${field}s has over ${CLUSTER_KEYS_MAX} values`)
  }
  return [...distinct.values()]
}
