/**
 * Reads objects as the API or a file gives them. What the API server would have filled in is filled
 * in here (the namespace `default`, the protocol TCP), so that files work without one.
 * @module
 */
import type {
  ClusterObject,
  Endpoint,
  EndpointSlice,
  Labels,
  Namespace,
  Pod,
  Port,
  Service,
} from './objects.ts'

/**
 * Why an object cannot be read, for people: the object, the field, what it is, what it should be.
 */
export type ParseProblem = { readonly kind: 'problem'; readonly message: string }

/** API groups of the kinds that names come from. Others may have kinds that are called the same. */
const GROUPS: Readonly<Record<ClusterObject['kind'], string>> = {
  Namespace: '',
  Service: '',
  EndpointSlice: 'discovery.k8s.io',
  Pod: '',
}
const GONE_PHASES: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Unknown'])
const SERVICE_NAME_LABEL = 'kubernetes.io/service-name'

/**
 * Reads one object of unknown shape. `undefined` for kinds that no names come from. An object that
 * does not say its API group is taken to be of the right one, as the items of lists are.
 * @returns the object, or what is wrong with it. Never throws.
 */
export function parseObject(value: unknown): ClusterObject | ParseProblem | undefined {
  try {
    const fields = new Fields(value, '')
    const kind = fields.text('kind')
    const isNamed =
      kind === 'Namespace' || kind === 'Service' || kind === 'EndpointSlice' || kind === 'Pod'
    return isNamed && isOfGroup(fields, GROUPS[kind]) ? parseKind(kind, fields) : undefined
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { kind: 'problem', message: `${describe(value)}: ${error.message}` }
  }
}

/** Names an object that could not be read, as far as it says its own name. */
function describe(value: unknown): string {
  const { kind, metadata } = isRecord(value) ? value : {}
  const { namespace, name } = isRecord(metadata) ? metadata : {}
  const path = [namespace, name].filter((part) => typeof part === 'string').join('/')
  return `${typeof kind === 'string' ? kind : 'Object'} ${path || 'without a name'}`
}

/** Tells whether `apiVersion`, of the form `group/version` or `v1`, is of a group. */
function isOfGroup(fields: Fields, group: string): boolean {
  const version = fields.text('apiVersion')
  return version === '' || version.slice(0, Math.max(0, version.lastIndexOf('/'))) === group
}

function parseKind(kind: ClusterObject['kind'], fields: Fields): ClusterObject {
  switch (kind) {
    case 'Namespace':
      return parseNamespace(fields)
    case 'Service':
      return parseService(fields)
    case 'EndpointSlice':
      return parseEndpointSlice(fields)
    case 'Pod':
      return parsePod(fields)
  }
}

function parseNamespace(fields: Fields): Namespace {
  return { kind: 'Namespace', ...fields.meta(), namespace: '' }
}

function parseService(fields: Fields): Service {
  const spec = fields.child('spec')
  const listed = spec.texts('clusterIPs')
  const single = spec.text('clusterIP')
  const clusterIPs = listed.length > 0 ? listed : [single].filter((text) => text !== '')
  const isExternal = spec.text('type') === 'ExternalName'
  const isHeadless = !isExternal && clusterIPs[0] === 'None'
  return {
    kind: 'Service',
    ...fields.meta(),
    type: isExternal ? 'ExternalName' : 'ClusterIP',
    isHeadless,
    clusterIPs: isExternal || isHeadless ? [] : clusterIPs,
    externalName: isExternal ? spec.text('externalName') : '',
    ports: spec.children('ports').map(parsePort),
  }
}

function parsePort(fields: Fields): Port {
  return {
    name: fields.text('name'),
    protocol: fields.text('protocol') || 'TCP',
    port: fields.port('port'),
  }
}

function parseEndpointSlice(fields: Fields): EndpointSlice {
  const meta = fields.meta()
  return {
    kind: 'EndpointSlice',
    ...meta,
    serviceName: meta.labels.get(SERVICE_NAME_LABEL) ?? '',
    endpoints: fields.children('endpoints').map(parseEndpoint),
    ports: fields.children('ports').map(parsePort),
  }
}

function parseEndpoint(fields: Fields): Endpoint {
  return {
    addresses: fields.texts('addresses'),
    hostname: fields.text('hostname'),
    targetName: fields.child('targetRef').text('name'),
    isReady: fields.child('conditions').flag('ready') ?? true,
  }
}

function parsePod(fields: Fields): Pod {
  const status = fields.child('status')
  const isDeleted = fields.child('metadata').has('deletionTimestamp')
  return {
    kind: 'Pod',
    ...fields.meta(),
    podIP: status.text('podIP'),
    isGone: isDeleted || GONE_PHASES.has(status.text('phase')),
  }
}

class FieldError extends Error {
  override readonly name = 'FieldError'
}

/** Fields of an object that may be missing or `null`; a field of another type is an error. */
class Fields {
  private readonly values: Readonly<Record<string, unknown>>
  private readonly path: string

  constructor(value: unknown, path: string) {
    this.path = path
    if (value === undefined || value === null) this.values = {}
    else if (isRecord(value)) this.values = value
    else throw this.error('', value, 'an object')
  }

  has(name: string): boolean {
    return this.values[name] !== undefined && this.values[name] !== null
  }

  text(name: string): string {
    const value = this.values[name] ?? ''
    if (typeof value === 'string') return value
    throw this.error(name, value, 'text')
  }

  flag(name: string): boolean | undefined {
    const value = this.values[name] ?? undefined
    if (value === undefined || typeof value === 'boolean') return value
    throw this.error(name, value, 'true or false')
  }

  port(name: string): number | undefined {
    const value = this.values[name] ?? undefined
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isInteger(value) && 0 < value && value < 65536) {
      return value
    }
    throw this.error(name, value, 'a port from 1 to 65535')
  }

  child(name: string): Fields {
    return new Fields(this.values[name], `${this.path}${name}.`)
  }

  children(name: string): Fields[] {
    return this.list(name).map((value, i) => new Fields(value, `${this.path}${name}[${i}].`))
  }

  texts(name: string): string[] {
    return this.list(name).map((value, i) => {
      if (typeof value === 'string') return value
      throw this.error(`${name}[${i}]`, value, 'text')
    })
  }

  meta(): { namespace: string; name: string; labels: Labels } {
    const metadata = this.child('metadata')
    const name = metadata.text('name')
    if (name === '') throw metadata.error('name', undefined, 'a name')
    const namespace = metadata.text('namespace') || 'default'
    return { namespace, name, labels: metadata.labels() }
  }

  private labels(): Labels {
    const labels = this.child('labels')
    return new Map(Object.keys(labels.values).map((key) => [key, labels.text(key)]))
  }

  private list(name: string): readonly unknown[] {
    const value = this.values[name] ?? []
    if (Array.isArray(value)) return value
    throw this.error(name, value, 'a list')
  }

  private error(name: string, value: unknown, wanted: string): FieldError {
    const found = value === undefined ? 'missing' : excerpt(value)
    const path = `${this.path}${name}`.replace(/\.$/, '')
    return new FieldError(`${path || 'it'} is ${found}, expected ${wanted}`)
  }
}

/** Says what a value is, without going into it: it may be huge, or part of itself. */
function excerpt(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 60)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
