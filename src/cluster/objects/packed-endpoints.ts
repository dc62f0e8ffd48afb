/**
 * The endpoints of a slice by columns. They are most of the objects of a large cluster: one takes
 * 160 bytes as an object with a list of addresses, 40 in columns that are alike otherwise.
 * @module
 */

/** An endpoint within a slice. */
export type Endpoint = {
  /** Addresses, or hostnames in a slice of type FQDN, as text. */
  readonly addresses: readonly string[]
  /** '' when it has none. */
  readonly hostname: string
  /** Name of the Pod or whatever object it refers to, '' for none. */
  readonly targetName: string
  /** Topology zone that it is in, in lower case; '' for none. */
  readonly zone: string
  /** The condition `ready`; unknown counts as true. */
  readonly isReady: boolean
}

/** The values of all endpoints in order, or the value that they share. */
type Column<T extends string | boolean> = T | readonly T[]

/** Columns that are still filled. */
export class EndpointColumns {
  /** The address of each, or a list unless it has one. */
  readonly addresses: (string | readonly string[])[] = []
  readonly hostnames: string[] = []
  readonly targetNames: string[] = []
  readonly zones: string[] = []
  readonly readiness: boolean[] = []

  /** Adds an endpoint. */
  add({ addresses, hostname, targetName, zone, isReady }: Endpoint): void {
    const [only] = addresses
    this.addresses.push(addresses.length === 1 && only !== undefined ? only : addresses)
    this.hostnames.push(hostname)
    this.targetNames.push(targetName)
    this.zones.push(zone)
    this.readiness.push(isReady)
  }
}

/** The endpoints of a slice, in order. */
export class PackedEndpoints {
  private readonly addresses: readonly (string | readonly string[])[]
  private readonly hostnames: Column<string>
  private readonly targetNames: Column<string>
  private readonly zones: Column<string>
  private readonly readiness: Column<boolean>

  /** @param columns are taken over */
  constructor({ addresses, hostnames, targetNames, zones, readiness }: EndpointColumns) {
    this.addresses = addresses
    this.hostnames = columnOf(hostnames)
    this.targetNames = columnOf(targetNames)
    this.zones = columnOf(zones)
    this.readiness = columnOf(readiness)
  }

  /** Packs endpoints. */
  static from(endpoints: readonly Endpoint[]): PackedEndpoints {
    const columns = new EndpointColumns()
    for (const endpoint of endpoints) columns.add(endpoint)
    return new PackedEndpoints(columns)
  }

  /** Number of endpoints. */
  get count(): number {
    return this.addresses.length
  }

  /** The addresses of all endpoints, in order. */
  get hosts(): readonly string[] {
    return this.addresses.flat()
  }

  /** Returns the endpoints as objects. */
  unpack(): Endpoint[] {
    const { hostnames, targetNames, zones, readiness } = this
    return this.addresses.map((one, i) => ({
      addresses: typeof one === 'string' ? [one] : one,
      hostname: valueAt(hostnames, i) ?? '',
      targetName: valueAt(targetNames, i) ?? '',
      zone: valueAt(zones, i) ?? '',
      isReady: valueAt(readiness, i) ?? true,
    }))
  }

  /** Returns whether an endpoint, ready or not, has one of some addresses. */
  hasOneOf(wanted: ReadonlySet<string>): boolean {
    return this.addresses.some((one) =>
      typeof one === 'string' ? wanted.has(one) : one.some((address) => wanted.has(address)),
    )
  }
}

function columnOf<T extends string | boolean>(values: readonly T[]): Column<T> {
  const [first] = values
  return first === undefined || values.some((value) => value !== first) ? values : first
}

function valueAt<T extends string | boolean>(column: Column<T>, index: number): T | undefined {
  return typeof column === 'object' ? column[index] : column
}
