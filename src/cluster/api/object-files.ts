/**
 * Reads cluster objects from files: JSON or YAML, lists or single objects, several documents in a
 * file.
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, LineCounter, parseAllDocuments } from 'yaml'
import { errorText, fileReason } from '../../dns/bytes/unknown.ts'
import { fromMiniK8s } from '../objects/mini-k8s.ts'
import type { ClusterObject } from '../objects/objects.ts'
import { parseObject } from '../objects/parse-object.ts'

/** Most bytes of a file. */
const FILE_BYTES_MAX = 512 * 1024 * 1024
/** Most nodes that the aliases of a YAML document expand to: more is an attack on memory. */
const ALIASES_MAX = 1000
/** Most kinds that a warning names. */
const KINDS_MAX = 5
const KIND_CHARACTERS_MAX = 100
const EXTENSIONS = /\.(json|ya?ml)$/

/** The objects of files, and warnings. */
export type ObjectFiles = {
  readonly objects: readonly ClusterObject[]
  /** A line for each invalid object and each file without objects. */
  readonly warnings: readonly string[]
}

/** A file is not readable as objects. */
export class ObjectFileError extends Error {
  override readonly name = 'ObjectFileError'
}

/**
 * Reads files, or all `.json`, `.yaml` and `.yml` files of folders. Without any Namespace, adds
 * those that the objects are in.
 * @throws {ObjectFileError} with the file, and the line if known
 */
export function readObjectFiles(paths: readonly string[]): ObjectFiles {
  const objects: ClusterObject[] = []
  const warnings: string[] = []
  for (const path of paths.flatMap(listFiles)) {
    const values = readDocuments(path)
    const parsed = values.flatMap((value) => parseObject(fromMiniK8s(value)) ?? [])
    for (const object of parsed) {
      if (object.kind === 'problem') warnings.push(`${path}: ${object.message}`)
      else objects.push(object)
    }
    if (parsed.length === 0) warnings.push(`${path}: no object that has names, ${foundIn(values)}`)
  }
  return { objects: withNamespaces(objects), warnings }
}

function listFiles(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const names = readdirSync(path).filter((name) => EXTENSIONS.test(name))
    if (names.length > 0) return names.sort().map((name) => join(path, name))
  } catch {
    throw new ObjectFileError(`${path}: no such file or folder`)
  }
  throw new ObjectFileError(`${path}: no .json, .yaml or .yml file in this folder`)
}

/** Describes what a file has instead of objects: kinds that give no names, or other values. */
function foundIn(values: readonly unknown[]): string {
  if (values.length === 0) return 'found nothing'
  const kinds = new Set(values.map(kindOf))
  const some = [...kinds].slice(0, KINDS_MAX).join(', ')
  return `found ${values.length} of kind ${some}${kinds.size > KINDS_MAX ? ', …' : ''}`
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return '(none)'
  const group = 'apiVersion' in value ? `${value.apiVersion} ` : ''
  return `${group}${value.kind}`.slice(0, KIND_CHARACTERS_MAX)
}

/**
 * Returns the documents of a file, of any shape; for lists, their items.
 * @throws {ObjectFileError} with the file, and the line if known
 */
export function readDocuments(path: string): unknown[] {
  const text = readText(path)
  const documents = path.endsWith('.json') ? [parseJson(path, text)] : parseYaml(path, text)
  return documents.flatMap(listItems)
}

function readText(path: string): string {
  try {
    const { size } = statSync(path)
    if (size <= FILE_BYTES_MAX) return readFileSync(path, 'utf8')
    throw new ObjectFileError(`${path}: ${size} bytes, at most ${FILE_BYTES_MAX}`)
  } catch (error) {
    if (error instanceof ObjectFileError) throw error
    throw new ObjectFileError(`${path}: ${fileReason(error)}`)
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const message = errorText(error)
    // Some errors have no position, and quote text that may have several lines.
    const at = /position (\d+)/.exec(message)?.[1]
    if (at === undefined) throw new ObjectFileError(`${path}: ${message.replaceAll('\n', ' ')}`)
    const line = text.slice(0, Number(at)).split('\n').length
    throw new ObjectFileError(`${path}:${line}: ${message}`)
  }
}

function parseYaml(path: string, text: string): unknown[] {
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines })
  if ('empty' in documents) return []
  return documents.map((document) => {
    const [error] = document.errors
    if (error === undefined) return toValue(path, document)
    const { line } = lines.linePos(error.pos[0])
    // The message goes on with an excerpt, after a colon.
    const [message = ''] = error.message.split('\n')
    throw new ObjectFileError(`${path}:${line}: ${message.replace(/:$/, '')}`)
  })
}

/** Converts a document; only this finds aliases that are undefined or expand too much. */
function toValue(path: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX })
  } catch (error) {
    throw new ObjectFileError(`${path}: ${errorText(error)}`)
  }
}

/** Returns the items of a list, the document otherwise, and nothing for an empty one. */
function listItems(value: unknown): unknown[] {
  if (value === null || value === undefined) return []
  return isList(value) ? value.items.map((item) => withKind(item, value)) : [value]
}

function isList(value: unknown): value is { readonly items: readonly unknown[] } {
  return (
    typeof value === 'object' && value !== null && 'items' in value && Array.isArray(value.items)
  )
}

/** Adds kind and group to the items of typed lists (`ServiceList`), which lack them. */
function withKind(item: unknown, list: object): unknown {
  const listKind = 'kind' in list && typeof list.kind === 'string' ? list.kind : ''
  if (typeof item !== 'object' || item === null || 'kind' in item) return item
  const group = 'apiVersion' in list ? { apiVersion: list.apiVersion } : {}
  return { ...group, kind: listKind.replace(/List$/, ''), ...item }
}

function withNamespaces(objects: readonly ClusterObject[]): readonly ClusterObject[] {
  if (objects.some(({ kind }) => kind === 'Namespace')) return objects
  const names = new Set(objects.map(({ namespace }) => namespace))
  const namespaces = [...names].map(
    (name): ClusterObject => ({ kind: 'Namespace', namespace: '', name, labels: new Map() }),
  )
  return [...namespaces, ...objects]
}
