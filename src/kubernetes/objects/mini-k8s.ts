/**
 * The DNS objects of mini-k8s: a host with paths, each of a Service.
 * @module
 */
import { isRecord } from '../../bytes/unknown.ts'

const KINDS: ReadonlySet<unknown> = new Set(['DNS', 'dnsrecord'])

/**
 * Converts an object of `kind: DNS` or `kind: dnsrecord` into a HostRoute; returns others as they
 * are, such as OpenShift's DNS. A path without `path` is `/` and the name of its Service. The field
 * `address` is ignored: the Service has its own.
 */
export function fromMiniK8s(value: unknown): unknown {
  if (!isRecord(value) || !KINDS.has(value.kind)) return value
  if (value.apiVersion !== undefined && value.apiVersion !== 'v1') return value
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
  const { path, service, port } = value
  const given = typeof path === 'string' ? path : `/${String(service)}`
  return { path: given === '/' ? given : given.replace(/\/$/, ''), service, port }
}
