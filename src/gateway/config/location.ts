/**
 * Where Durable Objects are created: CLUSTER_LOCATION, one of Cloudflare's location hints
 * (developers.cloudflare.com/durable-objects/reference/data-location). An object never moves.
 * @module
 */
import { GatewayConfigError } from './config.ts'

const LOCATIONS = [
  'wnam',
  'enam',
  'sam',
  'weur',
  'eeur',
  'apac',
  'apac-ne',
  'apac-se',
  'oc',
  'afr',
  'me',
] as const

/** A location hint. */
export type Location = (typeof LOCATIONS)[number]

/**
 * Reads a location hint; `undefined` for '' and none, where an object is created near who calls it
 * first.
 * @throws {GatewayConfigError} for anything else
 */
export function readLocation(text: unknown): Location | undefined {
  if (text === undefined || text === '') return undefined
  const found = LOCATIONS.find((one) => one === text)
  if (found !== undefined) return found
  throw new GatewayConfigError(`CLUSTER_LOCATION "${text}" is none of ${LOCATIONS.join(', ')}`)
}
