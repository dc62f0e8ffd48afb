/**
 * How many hostnames the objects of each namespace may have. With too many, the youngest objects of
 * the namespace with the most have none: no namespace takes the memory of the others.
 * @module
 */
import { fairShare, type SharedBound } from '../rules/fair-shares.ts'
import type { Timing } from './backoff.ts'

/** The mirror that passes objects on. */
export type ClaimOwner = {
  /** Called when an object may not have its hostnames any more. */
  readonly cut: (claim: HostClaim) => void
  /** Called when objects may have theirs again; once in a minute. */
  readonly readAgain: () => void
}

/** What an object wants. */
export type HostClaim = {
  readonly owner: ClaimOwner
  readonly namespace: string
  /** The key of the object among those of its owner. It decides between objects of one age. */
  readonly key: string
  readonly createdMs: number
  readonly hosts: number
  isCut: boolean
  /** Whether it was cut and there is room for it now. */
  hasRoom: boolean
}

/** Options of a budget. */
export type HostBudgetOptions = Pick<Timing, 'sleep' | 'elapsed'> & { readonly bounds: SharedBound }

/** The claims of a namespace, by age as far as known, and their hostnames. */
type Namespace = {
  claims: Set<HostClaim>
  wanted: number
  kept: number
  /** The oldest that is cut. */
  firstCut?: HostClaim
}

/** Hostnames for each MiB of memory: 32,768 fit in 256 MiB, beside a small cluster. */
const WHOLE_PER_MIB = 128
const EACH_PER_MIB = 80
/** Part beyond the bounds that is kept for a second. */
const SLACK = 1.25
const SETTLE_MS = 1000
/** Time between lists that read objects again for which there is room. */
const ROOM_MS = 60_000

/** Returns the bounds for a process. @param memoryBytes what it may use */
export function hostBoundsFor(memoryBytes: number): SharedBound {
  const mib = memoryBytes / (1024 * 1024)
  return { eachMax: Math.floor(mib * EACH_PER_MIB), wholeMax: Math.floor(mib * WHOLE_PER_MIB) }
}

/** The budget of all collections of a cluster. */
export class HostBudget {
  private readonly options: HostBudgetOptions
  private readonly namespaces = new Map<string, Namespace>()
  private wanted = 0
  private kept = 0
  /** The most that each namespace has now. */
  private share: number
  private waking: AbortController | undefined
  private wakeMs = 0
  private roomMs = Number.NEGATIVE_INFINITY

  constructor(options: HostBudgetOptions) {
    this.options = options
    this.share = options.bounds.eachMax
  }

  /** Adds a claim; it may be cut at once, as others may. */
  add(claim: HostClaim): void {
    const { eachMax, wholeMax } = this.options.bounds
    const own = this.namespaces.get(claim.namespace) ?? newNamespace()
    this.namespaces.set(claim.namespace, own)
    own.claims.add(claim)
    own.wanted += claim.hosts
    this.wanted += claim.hosts
    const isFull = own.kept + claim.hosts > this.share
    if (isFull && own.firstCut !== undefined && byAge(own.firstCut, claim) < 0) cut(claim)
    else this.keep(own, claim.hosts)
    if (own.kept > eachMax * SLACK || this.kept > wholeMax * SLACK) this.settle()
    else if (own.wanted > this.share || this.wanted > wholeMax) this.settleIn(SETTLE_MS)
  }

  /** Removes a claim. */
  remove(claim: HostClaim): void {
    const own = this.namespaces.get(claim.namespace)
    if (own?.claims.delete(claim) !== true) return
    own.wanted -= claim.hosts
    this.wanted -= claim.hosts
    if (!claim.isCut) this.keep(own, -claim.hosts)
    if (own.claims.size === 0) this.namespaces.delete(claim.namespace)
    if (own.firstCut !== undefined || this.share < this.options.bounds.eachMax) {
      this.settleIn(SETTLE_MS)
    }
  }

  /** Cuts the youngest where they are too many, and looks for those that have room again. */
  settle(): void {
    this.waking?.abort()
    this.waking = undefined
    const { bounds, elapsed } = this.options
    const all = [...this.namespaces.values()]
    const wanted = all.map((own) => own.wanted)
    this.share = this.wanted > bounds.wholeMax ? fairShare(wanted, bounds) : bounds.eachMax
    const fitting: HostClaim[] = []
    for (const own of all) {
      if (own.wanted > this.share || own.firstCut !== undefined) fitting.push(...this.divide(own))
    }
    if (fitting.length === 0) return
    const waitMs = this.roomMs + ROOM_MS - elapsed()
    if (waitMs > 0) {
      this.settleIn(waitMs)
      return
    }
    this.roomMs = elapsed()
    for (const claim of fitting) claim.hasRoom = true
    for (const owner of new Set(fitting.map((claim) => claim.owner))) owner.readAgain()
  }

  /** Divides the share of a namespace. Returns the claims that were cut and would fit now. */
  private divide(own: Namespace): HostClaim[] {
    const sorted = [...own.claims].sort(byAge)
    // They are almost sorted the next time.
    own.claims = new Set(sorted)
    delete own.firstCut
    const fitting: HostClaim[] = []
    let given = 0
    for (const claim of sorted) {
      if (given + claim.hosts <= this.share) {
        given += claim.hosts
        if (claim.isCut) fitting.push(claim)
      } else if (!claim.isCut) {
        this.keep(own, -claim.hosts)
        cut(claim)
      }
      if (claim.isCut) own.firstCut ??= claim
    }
    return fitting
  }

  private keep(own: Namespace, hosts: number): void {
    own.kept += hosts
    this.kept += hosts
  }

  private settleIn(delayMs: number): void {
    const wakeMs = this.options.elapsed() + delayMs
    if (this.waking !== undefined && this.wakeMs <= wakeMs) return
    this.waking?.abort()
    const waking = new AbortController()
    this.waking = waking
    this.wakeMs = wakeMs
    void this.options.sleep(delayMs, waking.signal).then(() => {
      if (!waking.signal.aborted) this.settle()
    })
  }
}

function newNamespace(): Namespace {
  return { claims: new Set(), wanted: 0, kept: 0 }
}

function cut(claim: HostClaim): void {
  claim.isCut = true
  claim.hasRoom = false
  claim.owner.cut(claim)
}

function byAge(a: HostClaim, b: HostClaim): number {
  return a.createdMs - b.createdMs || (a.key < b.key ? -1 : Number(a.key > b.key))
}
