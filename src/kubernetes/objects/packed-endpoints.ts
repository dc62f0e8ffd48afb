/**
 * The endpoints of a slice by columns. They are most of the objects of a large cluster: one takes
 * 160 bytes as an object with a list of addresses, 40 in columns that are alike otherwise.
 * @module
 */
import type { Endpoint } from './objects.ts'

/** The values of all endpoints in order, or the value that they share. */
type Column<T extends string | boolean> = T | readonly T[]

/** The endpoints of a slice, in order. */
export class PackedEndpoints {
  /** The address of each, or a list unless it has one. */
  private readonly addresses: readonly (string | readonly string[])[]
  private readonly hostnames: Column<string>
  private readonly targetNames: Column<string>
  private readonly zones: Column<string>
  private readonly readiness: Column<boolean>

  constructor(endpoints: readonly Endpoint[]) {
    this.addresses = endpoints.map(({ addresses }) => {
      const [only] = addresses
      return addresses.length === 1 && only !== undefined ? only : addresses
    })
    this.hostnames = columnOf(endpoints.map(({ hostname }) => hostname))
    this.targetNames = columnOf(endpoints.map(({ targetName }) => targetName))
    this.zones = columnOf(endpoints.map(({ zone }) => zone))
    this.readiness = columnOf(endpoints.map(({ isReady }) => isReady))
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
