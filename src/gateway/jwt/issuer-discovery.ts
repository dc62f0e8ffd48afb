/**
 * What an issuer says of itself (OpenID Connect Discovery 1.0 §4, RFC 8414 §3): where its keys are,
 * and where people log in.
 * @module
 */
import { isRecord, parseJson } from '../../dns/bytes/unknown.ts'
import { readBody } from '../doh/read-body.ts'

/** Largest discovery document, and largest key set. */
const BYTES_MAX = 64 * 1024

/** Sends an HTTP GET request; does not follow redirects. */
export type FetchPage = (url: string) => Promise<Response>

/**
 * Reads the discovery document of an issuer, a URL.
 * @throws {Error} when it cannot be read, and for that of another issuer
 */
export async function readDiscovery(
  fetchPage: FetchPage,
  issuer: string,
): Promise<Readonly<Record<string, unknown>>> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const found = await readJsonObject(fetchPage, url)
  if (found.issuer === issuer) return found
  throw new Error(`${url} is not of this issuer`)
}

/** Reads a JSON object of at most 64 KiB. @throws {Error} when it cannot be read */
export async function readJsonObject(
  fetchPage: FetchPage,
  url: string,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetchPage(url)
  const { status, body } = response
  if (status !== 200) {
    await body?.cancel()
    throw new Error(`HTTP status ${status} of ${url}`)
  }
  const value = parseJson(new TextDecoder().decode(await readBody(response, BYTES_MAX)))
  if (isRecord(value)) return value
  throw new Error(`${url} is not a JSON object`)
}
