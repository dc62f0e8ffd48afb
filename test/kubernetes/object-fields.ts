/**
 * Every field of objects that is read, and what it must be.
 * @module
 */
import { parse } from 'yaml'

/** What a field must be, in the words of a problem. */
export type Wanted = 'text' | 'a list' | 'an object' | 'true or false' | 'a port from 1 to 65535'

/** Values that a field of each type may not have. */
export const WRONG: Readonly<Record<Wanted, readonly unknown[]>> = {
  text: [0, 7, true, false, [], {}],
  'a list': ['', 'x', 0, 7, true, false, {}],
  'an object': ['', 'x', 0, 7, true, false, []],
  'true or false': ['', 'true', 0, 1, [], {}],
  'a port from 1 to 65535': ['', '80', 0, -1, 1.5, 65536, true, false, [], {}],
}

const META: Readonly<Record<string, Wanted>> = {
  apiVersion: 'text',
  metadata: 'an object',
  'metadata.name': 'text',
  'metadata.namespace': 'text',
  'metadata.labels': 'an object',
  'metadata.labels.tier': 'text',
}

const portFields = (list: string): Readonly<Record<string, Wanted>> => ({
  [list]: 'a list',
  [`${list}[0]`]: 'an object',
  [`${list}[0].name`]: 'text',
  [`${list}[0].protocol`]: 'text',
  [`${list}[0].port`]: 'a port from 1 to 65535',
})

/** A good object of each kind, and its fields. */
export const FIELDS: readonly {
  readonly kind: string
  readonly object: unknown
  readonly fields: Readonly<Record<string, Wanted>>
}[] = [
  {
    kind: 'Namespace',
    object: parse('{ kind: Namespace, metadata: { name: shop, labels: { tier: gold } } }'),
    fields: META,
  },
  {
    kind: 'Service',
    object: parse(`
      kind: Service
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      spec:
        type: ExternalName
        externalName: www.example.org
        clusterIP: 192.0.2.1
        clusterIPs: [192.0.2.1]
        ports: [{ name: http, port: 80, protocol: TCP }]`),
    fields: {
      ...META,
      spec: 'an object',
      'spec.type': 'text',
      'spec.externalName': 'text',
      'spec.clusterIP': 'text',
      'spec.clusterIPs': 'a list',
      'spec.clusterIPs[0]': 'text',
      ...portFields('spec.ports'),
    },
  },
  {
    kind: 'EndpointSlice',
    object: parse(`
      kind: EndpointSlice
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      endpoints:
        - addresses: [192.0.2.1]
          hostname: web-0
          conditions: { ready: true }
          targetRef: { name: web-abc }
      ports: [{ name: http, port: 80, protocol: TCP }]`),
    fields: {
      ...META,
      endpoints: 'a list',
      'endpoints[0]': 'an object',
      'endpoints[0].addresses': 'a list',
      'endpoints[0].addresses[0]': 'text',
      'endpoints[0].hostname': 'text',
      'endpoints[0].conditions': 'an object',
      'endpoints[0].conditions.ready': 'true or false',
      'endpoints[0].targetRef': 'an object',
      'endpoints[0].targetRef.name': 'text',
      ...portFields('ports'),
    },
  },
  {
    kind: 'Pod',
    object: parse(`
      kind: Pod
      metadata: { name: web, namespace: shop, labels: { tier: gold } }
      status: { phase: Running, podIP: 192.0.2.1 }`),
    fields: { ...META, status: 'an object', 'status.phase': 'text', 'status.podIP': 'text' },
  },
]

/** A copy of an object with another value in one place, such as `spec.ports[0].name`. */
export function replaced(object: unknown, path: string, value: unknown): unknown {
  return replacedAt(object, path.match(/\w+/g) ?? [], value)
}

function replacedAt(object: unknown, keys: readonly string[], value: unknown): unknown {
  const [key, ...rest] = keys
  if (key === undefined) return value
  if (Array.isArray(object)) {
    return object.map((item, i) => (String(i) === key ? replacedAt(item, rest, value) : item))
  }
  const entries = Object.entries(object ?? {})
  if (!entries.some(([name]) => name === key)) entries.push([key, undefined])
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === key ? replacedAt(item, rest, value) : item]),
  )
}
