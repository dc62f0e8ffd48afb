/**
 * Where Durable Objects are created: CLUSTER_LOCATION, one of Cloudflare's location hints, and
 * JURISDICTION, outside of which they neither run nor store
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

const JURISDICTIONS = ['eu', 'fedramp', 'us'] as const

/** A location hint. */
export type Location = (typeof LOCATIONS)[number]

/** A jurisdiction. */
export type Jurisdiction = (typeof JURISDICTIONS)[number]

/**
 * Reads a location hint; `undefined` for '' and none, where an object is created near who calls it
 * first.
 * @throws {GatewayConfigError} for anything else
 */
export function readLocation(text: unknown): Location | undefined {
  return readOneOf(LOCATIONS, 'CLUSTER_LOCATION', text)
}

/**
 * Reads a jurisdiction; `undefined` for '' and none, where objects may be anywhere.
 * @throws {GatewayConfigError} for anything else
 */
export function readJurisdiction(text: unknown): Jurisdiction | undefined {
  return readOneOf(JURISDICTIONS, 'JURISDICTION', text)
}

function readOneOf<Known extends string>(
  known: readonly Known[],
  name: string,
  text: unknown,
): Known | undefined {
  if (text === undefined || text === '') return undefined
  const found = known.find((one) => one === text)
  if (found !== undefined) return found
  throw new GatewayConfigError(`${name} "${text}" is none of ${known.join(', ')}`)
}
