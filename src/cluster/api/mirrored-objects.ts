/**
 * The objects of one collection that a sink has. A list replaces them one by one, so that a list
 * needs no second copy of the collection.
 * @module
 */
import { recordOf, textOf } from '../../dns/bytes/unknown.ts'
import { canLoseHosts, createdMsOf, hostWeight, withoutHosts } from '../objects/host-bounds.ts'
import type { ClusterObject, Kind } from '../objects/objects.ts'
import { type Parsed, parseObject } from '../objects/parse-object.ts'
import type { HostBudget, HostClaim } from './host-budget.ts'

/** The receiver of objects. */
export type ObjectSink = {
  readonly set: (object: ClusterObject) => void
  readonly delete: (kind: Kind, namespace: string, name: string) => void
}

/** What the objects share with those of other collections. */
export type SharedBudget = {
  readonly budget: HostBudget
  /** Called when an object has lost its hostnames. */
  readonly onCut: () => void
  /** Called when objects need to be read again. */
  readonly readAgain: () => void
}

/** Objects of a large collection: as many as a page of a list has. */
const OBJECTS_LARGE = 500
/** Endpoints of a large collection: slices differ by a factor of 100 in what they cost. */
const ENDPOINTS_LARGE = 2000
/** Hostnames of a large collection: one object may have as many. */
const HOSTS_LARGE = 2000

type Name = { readonly namespace: string; readonly name: string }
/** What identifies an object and its version. */
export type Identity = Name & { readonly key: string; readonly version: number }
/** An object, or the problem of an invalid one, and the last list that had it. */
type Held<T> = { value: T; round: number }
type HeldObject = Held<ClusterObject> & {
  readonly version: number
  hosts: number
  claim: HostClaim | undefined
}

/** The objects. */
export class MirroredObjects {
  private readonly kind: Kind
  private readonly sink: ObjectSink
  private readonly onWarning: (message: string) => void
  private readonly shared: SharedBudget | undefined
  private readonly held = new Map<string, HeldObject>()
  private readonly problems = new Map<string, Held<string>>()
  private round = 0
  private missedCount = 0
  private endpointCount = 0
  private hostCount = 0
  /** Resource version up to which the watch reported every change before this list. */
  private watchedVersion = Number.NaN

  /** @param onWarning called with the problem of an invalid object, which is skipped */
  constructor(
    kind: Kind,
    sink: ObjectSink,
    onWarning: (message: string) => void,
    shared?: SharedBudget,
  ) {
    this.shared = shared
    this.kind = kind
    this.sink = sink
    this.onWarning = onWarning
  }

  /** Whether their names take so long to build that queries should not wait for that. */
  get isLarge(): boolean {
    const { count, endpoints, hosts } = this
    return count >= OBJECTS_LARGE || endpoints >= ENDPOINTS_LARGE || hosts >= HOSTS_LARGE
  }

  /** Returns the number of valid objects. */
  get count(): number {
    return this.held.size
  }

  /** Returns the number of endpoints in the objects. */
  get endpoints(): number {
    return this.endpointCount
  }

  /** Returns the number of hostnames in the objects. */
  get hosts(): number {
    return this.hostCount
  }

  /** Returns the number of present objects that are invalid, which the sink has not. */
  get invalid(): number {
    return this.problems.size
  }

  /** Returns the number of changes that a list found and that the watch before it should have. */
  get missed(): number {
    return this.missedCount
  }

  /** Returns the objects that the sink has. */
  *objects(): Iterable<ClusterObject> {
    for (const { value } of this.held.values()) yield value
  }

  /**
   * Starts a list.
   * @param watchedVersion resource version of the last watch; '' without one
   */
  startList(watchedVersion: string): void {
    this.round++
    this.watchedVersion = versionOf(watchedVersion)
  }

  /** Ends a list: removes every object that it lacks. */
  endList(): void {
    this.watchedVersion = Number.NaN
    for (const [key, { value, round }] of this.held) {
      if (round !== this.round) this.remove(key, value)
    }
    for (const [key, { round }] of this.problems) {
      if (round !== this.round) this.problems.delete(key)
    }
    this.shared?.budget.settle()
  }

  /** Removes all objects from the budget: the collection is no longer followed. */
  stop(): void {
    for (const { claim } of this.held.values()) this.release(claim)
  }

  /** Passes an object to the sink, unless the sink has this version of it. */
  take(item: unknown): void {
    const identity = identify(item)
    if (!this.hasVersion(identity)) this.accept(identity, parseObject(item, this.kind))
  }

  /**
   * Returns whether the sink has this version of an object, as it has most objects of a repeated
   * list: it need not build their names again.
   */
  hasVersion({ key, version }: Identity): boolean {
    const known = this.held.get(key)
    if (known === undefined || known.version !== version) return false
    known.round = this.round
    return known.claim?.hasRoom !== true
  }

  /** Keeps an object, if there is one, until a newer version of it is parsed. */
  keep({ key }: Identity): void {
    for (const known of [this.held.get(key), this.problems.get(key)]) {
      if (known !== undefined) known.round = this.round
    }
  }

  /** Passes a parsed object to the sink; one that is invalid is removed. */
  accept({ key, namespace, name, version }: Identity, object: Parsed): void {
    const known = this.held.get(key)
    if (object === undefined || object.kind === 'problem') {
      const problem = this.problems.get(key)?.value
      this.remove(key, { namespace, name })
      if (object !== undefined) this.complain(key, object.message, problem)
      return
    }
    const isAgain = known?.claim?.hasRoom === true && known.version === version
    if (version <= this.watchedVersion && !isAgain) this.missedCount++
    this.problems.delete(key)
    this.endpointCount += endpointsOf(object) - endpointsOf(known?.value)
    const hosts = hostWeight(object)
    this.hostCount += hosts - (known?.hosts ?? 0)
    this.release(known?.claim)
    const claim = this.claimOf(key, object, hosts)
    this.held.set(key, { value: object, round: this.round, version, hosts, claim })
    if (claim !== undefined) this.shared?.budget.add(claim)
    // Else the sink has it without its hostnames.
    if (claim?.isCut !== true) this.sink.set(object)
  }

  /** Removes a deleted object. */
  drop(item: unknown): void {
    const { key, namespace, name } = identify(item)
    this.remove(key, { namespace, name })
  }

  private claimOf(key: string, object: ClusterObject, hosts: number): HostClaim | undefined {
    if (this.shared === undefined || hosts === 0 || !canLoseHosts(object)) return undefined
    const { namespace } = object
    const createdMs = createdMsOf(object)
    return { owner: this, namespace, key, createdMs, hosts, isCut: false, hasRoom: false }
  }

  private release(claim: HostClaim | undefined): void {
    if (claim !== undefined) this.shared?.budget.remove(claim)
  }

  /** Takes the hostnames of an object from it. */
  cut({ key }: HostClaim): void {
    const held = this.held.get(key)
    if (held === undefined) return
    held.value = withoutHosts(held.value)
    this.hostCount -= held.hosts
    held.hosts = 0
    this.sink.set(held.value)
    this.shared?.onCut()
  }

  /** Requests another read of the objects that have lost their hostnames. */
  readAgain(): void {
    this.shared?.readAgain()
  }

  private complain(key: string, message: string, known: string | undefined): void {
    if (known !== message) this.onWarning(message)
    this.problems.set(key, { value: message, round: this.round })
  }

  private remove(key: string, { namespace, name }: Name): void {
    const known = this.held.get(key)
    this.endpointCount -= endpointsOf(known?.value)
    this.hostCount -= known?.hosts ?? 0
    this.release(known?.claim)
    this.held.delete(key)
    this.problems.delete(key)
    this.sink.delete(this.kind, namespace, name)
  }
}

function endpointsOf(object: ClusterObject | undefined): number {
  return object?.kind === 'EndpointSlice' ? object.endpoints.count : 0
}

/** Identifies an object of unknown shape. */
export function identify(item: unknown): Identity {
  const metadata = recordOf(recordOf(item).metadata)
  const [namespace, name] = [textOf(metadata.namespace), textOf(metadata.name)]
  const version = versionOf(textOf(metadata.resourceVersion))
  return { key: `${namespace}/${name}`, namespace, name, version }
}

/** Returns a resource version as a number; NaN, which never matches, for other text. */
function versionOf(text: string): number {
  return text === '' ? Number.NaN : Number(text)
}
