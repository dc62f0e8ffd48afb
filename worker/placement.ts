/**
 * Where the Worker's Durable Objects are: in which jurisdiction, and near which place they are
 * created.
 * @module
 */
import { errorText } from '../src/dns/bytes/unknown.ts'
import { GatewayConfigError } from '../src/gateway/config/config.ts'
import {
  type Jurisdiction,
  type Location,
  readJurisdiction,
  readLocation,
} from '../src/gateway/config/location.ts'

/** The variables that say where objects are. */
export type PlacementVariables = {
  readonly CLUSTER_LOCATION?: string
  readonly JURISDICTION?: string
}

/** The part of a namespace that finds objects by name. */
export type Placed<Stub> = { readonly getByName: (name: string) => Stub }

/** A namespace as the platform has it. */
type Namespace<Stub> = {
  readonly getByName: (name: string, options: { readonly locationHint?: Location }) => Stub
  readonly jurisdiction: (jurisdiction: Jurisdiction) => Namespace<Stub>
}

/**
 * Returns the objects of a namespace where the variables want them. The same name is another object
 * in each jurisdiction.
 * @throws {GatewayConfigError} for variables with other values, or a platform that has no
 *   jurisdictions: an object in another place must not stand in
 */
export function placed<Stub>(
  namespace: Namespace<Stub>,
  { CLUSTER_LOCATION, JURISDICTION }: PlacementVariables,
): Placed<Stub> {
  const locationHint = readLocation(CLUSTER_LOCATION)
  const jurisdiction = readJurisdiction(JURISDICTION)
  const options = locationHint === undefined ? {} : { locationHint }
  const objects = jurisdiction === undefined ? namespace : within(namespace, jurisdiction)
  return { getByName: (name) => objects.getByName(name, options) }
}

function within<Stub>(namespace: Namespace<Stub>, jurisdiction: Jurisdiction): Namespace<Stub> {
  try {
    return namespace.jurisdiction(jurisdiction)
  } catch (error) {
    const message = `JURISDICTION "${jurisdiction}" cannot be used: ${errorText(error)}`
    throw new GatewayConfigError(message, { cause: error })
  }
}
