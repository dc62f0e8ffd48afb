/**
 * The secret of DNS cookies without a file of secrets.
 * @module
 */
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads'

const KEY = 'secret of DNS cookies'

/**
 * Returns 16 random bytes, the same at each call in this process and in the threads that it starts
 * after the first call.
 */
export function cookieSecret(): Uint8Array {
  const known = getEnvironmentData(KEY)
  if (known instanceof Uint8Array) return known
  const secret = crypto.getRandomValues(new Uint8Array(16))
  setEnvironmentData(KEY, secret)
  return secret
}
