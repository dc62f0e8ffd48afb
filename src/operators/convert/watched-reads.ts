/**
 * Finds the fields of a configuration that a conversion does not read, and so drops: also fields
 * that the other system gets in the future.
 * @module
 */
import { isRecord } from '../../dns/bytes/unknown.ts'

/** Most fields that are named one by one. */
const NAMED_MAX = 100
/** Fields of every object that say what it is, not what it configures. */
const COMMON: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status'])
const PLAIN_KEY = /^[\w-]+$/

/** A value whose reads are watched. */
export type WatchedValue = {
  /** Stands for the value; what is read through it counts as read. */
  readonly value: unknown
  /**
   * Returns the paths of what was not read, at most 100. Leaves out empty values, which mean the
   * default.
   */
  readonly unread: () => string[]
}

/** The reads of one object or list. */
type Node = { readonly target: object; readonly proxy: object; readonly read: Set<string> }

/** Watches the reads of a value of unknown shape. */
export function watchReads(value: unknown): WatchedValue {
  const nodes = new Map<object, Node>()
  const wrap = (inner: unknown): unknown => {
    if (!isRecord(inner) && !Array.isArray(inner)) return inner
    const known = nodes.get(inner)
    if (known !== undefined) return known.proxy
    const read = new Set<string>()
    const proxy = new Proxy(inner, {
      get: (target, key) => {
        const found: unknown = Reflect.get(target, key)
        if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return found
        read.add(key)
        return wrap(found)
      },
    })
    nodes.set(inner, { target: inner, proxy, read })
    return proxy
  }
  const unreadOf = (inner: unknown, path: string): string[] => {
    const node = typeof inner === 'object' && inner !== null ? nodes.get(inner) : undefined
    if (node === undefined) return []
    return Object.entries(node.target).flatMap(([key, child]) => {
      const name = nameOf(path, key, Array.isArray(node.target))
      if (node.read.has(key)) return unreadOf(child, name)
      return isEmpty(child) ? [] : [name]
    })
  }
  const wrapped = wrap(value)
  return { value: wrapped, unread: () => shortened(unreadOf(value, '')) }
}

/** Watches the reads of a Kubernetes object; its kind, metadata and status configure nothing. */
export function watchObject(object: unknown): WatchedValue {
  const { value, unread } = watchReads(object)
  const isOwn = (path: string): boolean => !COMMON.has(path.split(/[.[]/)[0] ?? '')
  return { value, unread: () => unread().filter(isOwn) }
}

/** Returns the names of documents beside those that are converted. */
export function otherDocuments(
  documents: readonly unknown[],
  converted: readonly unknown[],
): string[] {
  return documents
    .filter((one) => isRecord(one) && Object.keys(one).length > 0 && !converted.includes(one))
    .map(objectName)
}

/** Returns the notice of a field, an option or an object that is dropped. */
export function withoutEffect(name: string): string {
  return `${name} has no effect on the Corefile`
}

/** Returns the notice of the fields of an object that are dropped, if there are any. */
export function fieldsWithoutEffect(object: unknown, fields: readonly string[]): string[] {
  if (fields.length === 0) return []
  const have = fields.length === 1 ? 'has' : 'have'
  return [`${objectName(object)}: ${fields.join(', ')} ${have} no effect on the Corefile`]
}

/** Names an object in messages: `Service kube-system/kube-dns`. */
export function objectName(object: unknown): string {
  const { kind = 'document', metadata } = isRecord(object) ? object : {}
  const { namespace, name } = isRecord(metadata) ? metadata : {}
  const place = typeof namespace === 'string' ? `${namespace}/` : ''
  const named = typeof name === 'string' ? ` ${place}${name}` : ''
  return `${String(kind)}${named}`
}

function nameOf(path: string, key: string, isItem: boolean): string {
  if (isItem) return `${path}[${key}]`
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function shortened(paths: readonly string[]): string[] {
  const more = paths.length - NAMED_MAX
  return more > 0 ? [...paths.slice(0, NAMED_MAX), `${more} more fields`] : [...paths]
}
