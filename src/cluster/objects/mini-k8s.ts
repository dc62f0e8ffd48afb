/**
 * The DNS objects of mini-k8s: a host with paths, each of a Service.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'

const KINDS: ReadonlySet<unknown> = new Set(['DNS', 'dnsrecord'])
const VERSIONS: ReadonlySet<unknown> = new Set([undefined, 'v1', 'app/v1'])

/**
 * Converts an object of `kind: DNS` or `kind: dnsrecord` into a HostRoute; returns others as they
 * are, such as OpenShift's DNS. A path without `path` or `pathName` is `/` and the name of its
 * Service. The field `address` is ignored: the Service has its own.
 */
export function fromMiniK8s(value: unknown): unknown {
  if (!isRecord(value) || !KINDS.has(value.kind)) return value
  if (!VERSIONS.has(value.apiVersion)) return value
  const { metadata, spec = value, name, namespace } = value
  if (!isRecord(spec)) return value
  const { host, paths } = spec
  return {
    apiVersion: 'kubedoh.dev/v1alpha1',
    kind: 'HostRoute',
    metadata: isRecord(metadata) ? metadata : { name, namespace },
    spec: {
      host: typeof host === 'string' ? host.toLowerCase() : host,
      paths: Array.isArray(paths) ? paths.map(toPath) : paths,
    },
  }
}

/** nginx's locations of mini-k8s end with a slash, a HostRoute's paths do not. */
function toPath(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { pathName, path = pathName, service, port } = value
  const text = typeof path === 'string' ? path : String(service)
  const given = text.startsWith('/') ? text : `/${text}`
  return { path: given === '/' ? given : given.replace(/\/$/, ''), service, port }
}
