/**
 * The DNS objects of mini-k8s that its REST paths change: in the exporter's source and in a file.
 * @module
 */
import { renameSync, writeFileSync } from 'node:fs'
import { readDocuments } from '../../cluster/api/object-files.ts'
import type { ObjectSource } from '../../cluster/follow/export-source.ts'
import { objectKey } from '../../cluster/objects/cluster.ts'
import { fromMiniK8s } from '../../cluster/objects/mini-k8s.ts'
import {
  type ClusterObject,
  describeObject,
  type HostObject,
} from '../../cluster/objects/objects.ts'
import { parseObject } from '../../cluster/objects/parse-object.ts'
import type { RecordVerdict } from '../../cluster/trees/record-verdicts.ts'
import { errorCode } from '../../dns/bytes/unknown.ts'
import { HttpError } from '../../gateway/doh/http-error.ts'
import { CommandError } from '../../server/node/output.ts'

const OBJECTS_MAX = 1000
const NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/

/** What the objects need. */
export type MiniK8sOptions = {
  /** Keeps the documents. */
  readonly file: string
  /** The objects of all files, this one among them. */
  readonly objects: readonly ClusterObject[]
  readonly source: Pick<ObjectSource, 'set' | 'delete' | 'build'>
  /** Called after each change. */
  readonly onChange: () => void
}

/** A document, and the HostRoute that it means. */
type Entry = { readonly document: unknown; readonly object: HostObject }

/** The DNS objects of a file, by namespace and name. */
export class MiniK8sObjects {
  private readonly entries = new Map<string, Entry>()
  /** Keys of HostRoutes in other files. */
  private readonly foreign: ReadonlySet<string>
  private readonly options: MiniK8sOptions

  /** @throws {CommandError} for a file with anything but DNS objects */
  constructor(options: MiniK8sOptions) {
    this.options = options
    for (const document of readDocuments(options.file)) {
      const object = parse(document)
      if (typeof object === 'string') throw new CommandError(`${options.file}: ${object}`)
      this.entries.set(objectKey(object), { document, object })
    }
    const routes = options.objects.filter(({ kind }) => kind === 'HostRoute').map(objectKey)
    this.foreign = new Set(routes.filter((key) => !this.entries.has(key)))
  }

  /** Returns the documents of a namespace. */
  list(namespace: string): readonly unknown[] {
    const all = [...this.entries.values()]
    return all.filter(({ object }) => object.namespace === namespace).map((one) => one.document)
  }

  /** Returns a document. @throws {HttpError} 404 */
  get(key: string): unknown {
    const entry = this.entries.get(key)
    if (entry !== undefined) return entry.document
    throw new HttpError(404, 'not_found', 'There is no such DNS object')
  }

  /**
   * Adds or replaces a document, and returns it. After an error everything is as before.
   * @throws {HttpError} 400 for an invalid one, 409 for one of another file or one too many, 422 if
   * its host would not be published, or would be taken from an object of another namespace
   */
  put(document: unknown): unknown {
    const object = parse(document)
    if (typeof object === 'string') throw new HttpError(400, 'bad_field', object)
    const key = objectKey(object)
    if (this.foreign.has(key)) throw new HttpError(409, 'in_other_file', `Another file has ${key}`)
    if (!this.entries.has(key) && this.entries.size >= OBJECTS_MAX) {
      throw new HttpError(409, 'too_many', `There are ${OBJECTS_MAX} objects; delete some first`)
    }
    this.change(key, { document, object })
    return document
  }

  /** Deletes a document. @throws {HttpError} 404 */
  delete(key: string): void {
    this.get(key)
    this.change(key, undefined)
  }

  private change(key: string, entry: Entry | undefined): void {
    const before = this.entries.get(key)
    const refused = new Set(this.verdicts().flatMap((one) => (one.refusal ? [one.object] : [])))
    this.assign(key, entry)
    try {
      if (entry !== undefined) this.requirePublished(entry.object, refused)
      save(
        this.options.file,
        [...this.entries.values()].map(({ document }) => document),
      )
    } catch (error) {
      this.assign(key, before)
      throw error
    }
    this.options.onChange()
  }

  private assign(key: string, entry: Entry | undefined): void {
    const [namespace = '', name = ''] = key.split('/')
    if (entry === undefined) {
      this.entries.delete(key)
      this.options.source.delete('HostRoute', namespace, name)
    } else {
      this.entries.set(key, entry)
      this.options.source.set(entry.object)
    }
  }

  /** @param before the objects that were refused without this one */
  private requirePublished(object: HostObject, before: ReadonlySet<HostObject>): void {
    const verdicts = this.verdicts()
    const own = verdicts.find((one) => one.object === object)
    if (own === undefined) throw notPublished('The Corefile publishes no HostRoutes')
    if (own.refusal) throw notPublished(`${own.refusal.reason}: ${own.refusal.message}`)
    // Without times of creation, a name would belong to the first object in the alphabet.
    const loser = verdicts.find((one) => one.refusal && !before.has(one.object))?.object
    if (loser === undefined) return
    throw notPublished(`Conflict: ${object.hosts[0]?.name} belongs to ${describeObject(loser)}`)
  }

  private verdicts(): readonly RecordVerdict[] {
    return this.options.source.build().verdicts ?? []
  }
}

function notPublished(problem: string): HttpError {
  return new HttpError(422, 'not_published', problem)
}

/** Returns the HostRoute that a document means, or what is wrong. */
function parse(document: unknown): HostObject | string {
  const object = parseObject(fromMiniK8s(document))
  if (object?.kind === 'problem') return object.message
  if (object?.kind !== 'HostRoute') return 'It is not a DNS object'
  const invalid = [object.namespace, object.name].find((name) => !NAME.test(name))
  return invalid === undefined ? object : `${JSON.stringify(invalid.slice(0, 80))} is not a name`
}

/** Replaces the file at once. @throws {HttpError} 500 */
export function save(file: string, items: readonly unknown[]): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ items }), { flush: true })
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw new HttpError(500, 'storage_failed', `cannot write ${file}: ${errorCode(error)}`)
  }
}
