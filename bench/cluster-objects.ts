/**
 * Generated clusters that look like real ones: the length of names, how many endpoints a Service
 * has, how many are headless or of two families. The same seed gives the same objects.
 * @module
 */

/** A Kubernetes object as the API server has it. */
export type ApiObject = Readonly<Record<string, unknown>>

/** A Service that was generated, and what can be asked of it. */
export type GeneratedService = {
  readonly name: string
  readonly namespace: string
  readonly isHeadless: boolean
  readonly isDualStack: boolean
  readonly ports: readonly { readonly name: string; readonly port: number }[]
  readonly clusterIPs: readonly string[]
  readonly endpoints: readonly Endpoint[]
}

type Endpoint = { readonly addresses: readonly string[]; readonly hostname: string }

const SERVICES_PER_NAMESPACE = 24
const WORDS = (
  'account api audit auth backend billing cache cart catalog checkout config consumer customer ' +
  'dashboard data delivery email events feed frontend gateway geo identity image inventory ' +
  'invoice ledger login mail media metrics notification offer order payment price product ' +
  'profile proxy queue rate report review risk search session settings shipping stock store ' +
  'stream task tax token tracking user web webhook worker'
).split(' ')
const ENVIRONMENTS = ['prod', 'staging', 'canary', 'dev', 'qa']
const PORTS = [
  { name: 'http', port: 80 },
  { name: 'grpc', port: 9000 },
  { name: 'metrics', port: 9090 },
]

/** Generates some Services. */
export function* generateServices(count: number, seed = 1): Generator<GeneratedService> {
  const random = randomFrom(seed)
  let pods = 0
  for (let i = 0; i < count; i++) {
    const isHeadless = random() < 0.2
    const isDualStack = random() < 0.25
    const portCount = 1 + Math.floor(random() ** 2 * 3)
    const endpointCount = pickEndpointCount(random(), isHeadless)
    const name = `${pick(WORDS, random())}-${pick(WORDS, random())}-${i.toString(36)}`
    yield {
      name,
      namespace: namespaceOf(i),
      isHeadless,
      isDualStack,
      ports: PORTS.slice(0, portCount),
      clusterIPs: isHeadless ? [] : clusterIPs(i, isDualStack),
      endpoints: Array.from({ length: endpointCount }, (_, number) => ({
        addresses: podAddresses(pods++, isDualStack),
        hostname: isHeadless ? `${name}-${number}` : '',
      })),
    }
  }
}

/** The objects of Services: these, their slices and their namespaces. */
export function* apiObjects(services: Iterable<GeneratedService>): Generator<ApiObject> {
  const namespaces = new Set<string>()
  for (const service of services) {
    const { namespace } = service
    if (!namespaces.has(namespace)) yield namespaceObject(namespace)
    namespaces.add(namespace)
    yield serviceObject(service)
    yield* sliceObjects(service)
  }
}

/** The slices of a Service, of a hundred endpoints each, one family after the other. */
export function* sliceObjects(service: GeneratedService): Generator<ApiObject> {
  const families = service.isDualStack ? ['IPv4', 'IPv6'] : ['IPv4']
  for (const [family, addressType] of families.entries()) {
    for (let from = 0; from < service.endpoints.length; from += 100) {
      const { name, namespace } = service
      yield {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: `${name}-${family}${from}`.toLowerCase(),
          namespace,
          labels: { 'kubernetes.io/service-name': name },
          resourceVersion: '1',
        },
        addressType,
        ports: service.ports.map((port) => ({ ...port, protocol: 'TCP' })),
        endpoints: service.endpoints.slice(from, from + 100).map(({ addresses, hostname }) => ({
          addresses: [addresses[family]],
          conditions: { ready: true },
          ...(hostname === '' ? {} : { hostname }),
        })),
      }
    }
  }
}

function namespaceObject(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, resourceVersion: '1' } }
}

function serviceObject(service: GeneratedService): ApiObject {
  const { name, namespace, isHeadless, clusterIPs: ips } = service
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, resourceVersion: '1' },
    spec: {
      type: 'ClusterIP',
      clusterIP: isHeadless ? 'None' : ips[0],
      clusterIPs: isHeadless ? ['None'] : ips,
      ports: service.ports.map((port) => ({ ...port, protocol: 'TCP' })),
    },
  }
}

function namespaceOf(service: number): string {
  const number = Math.floor(service / SERVICES_PER_NAMESPACE)
  const team = WORDS[(number * 7) % WORDS.length]
  return `${team}-${ENVIRONMENTS[number % ENVIRONMENTS.length]}-${number.toString(36)}`
}

/** Most Services have a few endpoints, some have dozens, one in two thousand has a thousand. */
function pickEndpointCount(chance: number, isHeadless: boolean): number {
  if (chance > 0.9995) return 1000
  if (chance > 0.97) return 30
  if (chance > 0.8) return 10
  return isHeadless ? 3 : 1 + Math.floor(chance * 4)
}

function clusterIPs(number: number, isDualStack: boolean): string[] {
  const own = number + 256
  const ipv4 = `10.${96 + (own >>> 16)}.${(own >>> 8) & 255}.${own & 255}`
  return isDualStack ? [ipv4, `fd00:10:96::${own.toString(16)}`] : [ipv4]
}

/** A node has a block of 256 addresses; the Pods of one Service are spread over nodes. */
function podAddresses(number: number, isDualStack: boolean): string[] {
  const spread = Math.imul(number, 0x9e37) & 0x3fffff
  const [a, b, c] = [(spread >>> 16) & 63, (spread >>> 8) & 255, spread & 255]
  const ipv4 = `10.${128 + a}.${b}.${c}`
  return isDualStack
    ? [ipv4, `fd00:${a.toString(16)}:${b.toString(16)}::${c.toString(16)}`]
    : [ipv4]
}

function pick<T>(items: readonly T[], chance: number): T {
  const item = items[Math.floor(chance * items.length)]
  if (item === undefined) throw new RangeError('Nothing to pick from')
  return item
}

/** Mulberry32: numbers from 0 to 1 that repeat with the seed. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
