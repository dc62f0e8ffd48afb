/**
 * Parses HostRoutes (`hostroutes.kubedoh.dev`): a host that resolves to a router, and the paths
 * that the router proxies to Services. The patterns are those of the schema in
 * `deploy/crds/templates/hostroutes.kubedoh.dev.yaml`, which a test compares.
 * @module
 */
import { FieldError, type Fields } from './object-fields.ts'
import type { HostObject, HostRefusal, RoutedPath } from './objects.ts'
import { OWNER_CHARS_MAX, recordFacts } from './parse-dns-record.ts'
import { hostObject } from './parse-hosts.ts'

/** Most paths of an object: an HTTPRoute has at most 16 rules, one for each path. */
export const PATHS_MAX = 16
/** Most characters of a path. */
export const PATH_CHARS_MAX = 253

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const SEGMENT = '\\.?[A-Za-z0-9_~-][A-Za-z0-9._~-]*'

/** The pattern of the host, for the whole text. */
export const HOST_PATTERN: string = `^${LABEL}(?:\\.${LABEL})*$`
/** The pattern of a path: no segment is `.` or `..`, and none is empty. */
export const PATH_PATTERN: string = `^/(?:${SEGMENT}(?:/${SEGMENT})*)?$`
/** The pattern of the name of a Service. */
export const SERVICE_PATTERN: string = `^${LABEL}$`

/** Parses a HostRoute; one that is invalid has neither host nor paths, and a refusal. */
export function parseHostRoute(fields: Fields): HostObject {
  const found = routeOrRefusal(fields)
  const isRefused = 'reason' in found
  return hostObject('HostRoute', fields, {
    hosts: isRefused ? [] : [{ name: found.host, targets: [], texts: [], isAbsolute: true }],
    // Annotations of external-dns would add names outside the allowed zones.
    annotations: new Map(),
    paths: isRefused ? [] : found.paths,
    record: recordFacts(fields, { isCname: false, refusal: isRefused ? found : undefined }),
  })
}

type Route = { readonly host: string; readonly paths: readonly RoutedPath[] }

function routeOrRefusal(fields: Fields): Route | HostRefusal {
  try {
    const spec = fields.child('spec')
    const host = required(spec, 'host', WANTED.host)
    if (host.length > OWNER_CHARS_MAX) {
      const message = `a host of ${host.length} characters, ${OWNER_CHARS_MAX} are allowed`
      return { reason: 'NameTooLong', message }
    }
    spec.checkLength('paths', PATHS_MAX)
    const paths = spec.children('paths').map(parsePath)
    const isDistinct = new Set(paths.map(({ path }) => path)).size === paths.length
    if (paths.length > 0 && isDistinct) return { host, paths }
    throw new FieldError(`spec.paths has ${paths.length} items, expected 1 or more different paths`)
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { reason: 'InvalidValue', message: error.message }
  }
}

function parsePath(one: Fields): RoutedPath {
  const path = required(one, 'path', WANTED.path)
  if (path.length > PATH_CHARS_MAX) {
    throw new FieldError(`a path of ${path.length} characters, ${PATH_CHARS_MAX} are allowed`)
  }
  const port = one.port('port')
  if (port === undefined) throw new FieldError(`${path} has no port`)
  return { path, service: required(one, 'service', WANTED.service), port }
}

type Wanted = readonly [pattern: RegExp, description: string]

const WANTED = {
  host: [new RegExp(HOST_PATTERN), 'a hostname in lower case without a final dot'],
  path: [new RegExp(PATH_PATTERN), '/ or a path such as /shop/cart, without a final slash'],
  service: [new RegExp(SERVICE_PATTERN), 'the name of a Service'],
} satisfies Record<string, Wanted>

function required(fields: Fields, name: string, [pattern, wanted]: Wanted): string {
  const text = fields.match(name, pattern, wanted)
  if (text === '') throw new FieldError(`${name} is missing`)
  return text
}
