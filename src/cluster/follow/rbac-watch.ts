/**
 * Follows the RBAC of a cluster, and keeps the table of who may `get` Services where.
 * @module
 */
import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { inSlices, type Steps } from '../../dns/bytes/steps.ts'
import { RIGHTS_BYTES_MAX, RightsError, writeRights } from '../../snapshot/format/rights-table.ts'
import type { Timing } from '../api/backoff.ts'
import type { ObjectApi } from '../api/object-api.ts'
import { Reflector } from '../api/reflector.ts'
import type { CollectionState } from '../api/shared-watch.ts'
import type { RbacKind } from '../objects/parse-rbac.ts'
import { firstRights, serviceReaders } from '../rules/service-readers.ts'
import { ChangeLoop, DUTY_SHARE_ANSWERING } from './change-loop.ts'
import { RbacObjects } from './rbac-objects.ts'

/** Options of a watch of RBAC. */
type RbacWatchOptions = Pick<Timing, 'sleep' | 'random' | 'elapsed'> & {
  readonly api: ObjectApi
  /** Called when there is another table. */
  readonly onChange: () => void
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
}

const KINDS: readonly (readonly [RbacKind, string])[] = [
  ['Role', 'roles'],
  ['ClusterRole', 'clusterroles'],
  ['RoleBinding', 'rolebindings'],
  ['ClusterRoleBinding', 'clusterrolebindings'],
]
const GROUP = '/apis/rbac.authorization.k8s.io/v1'
/** A tool changes several objects at once. */
const GATHER_MS = 50
/** Shortest time between the starts of two computations: a tenant can change bindings for ever. */
const INTERVAL_MS = 200
/** Time between looks for watches that have ended: the next ones open soon. */
const AGAIN_MS = 250
/** How long the first publication waits for the first table. */
const AWAITED_MS = 10_000
/** Bytes of one principal in the table, at least; and what is tried if that is too many of them. */
const ROW_BYTES = 18
const FEWER = 0.9

/** The RBAC of one cluster. */
export class RbacWatch {
  /** The table; `undefined` before it is computed once. It stays while RBAC cannot be read. */
  current: Uint8Array | undefined
  private readonly options: RbacWatchOptions
  private readonly objects: RbacObjects
  private readonly mirrors: readonly { kind: RbacKind; resource: string; reflector: Reflector }[]
  private readonly loop: ChangeLoop
  private readonly startMs: number
  private left = 0
  private busyMs = 0

  constructor(options: RbacWatchOptions) {
    const { sleep, elapsed, onWarning } = options
    this.options = options
    this.startMs = elapsed()
    this.objects = new RbacObjects(onWarning)
    this.mirrors = KINDS.map(([kind, resource]) => {
      const reflector = new Reflector({
        ...options,
        collection: { resource, path: `${GROUP}/${resource}` },
        intake: this.objects.intake(kind),
        onChange: () => this.loop.mark(),
        onClose: () => undefined,
      })
      return { kind, resource, reflector }
    })
    this.loop = new ChangeLoop({
      work: (signal) => this.compute(signal),
      busyMs: () => this.busyMs,
      gatherMs: GATHER_MS,
      intervalMs: INTERVAL_MS,
      dutyShare: DUTY_SHARE_ANSWERING,
      sleep,
      elapsed,
    })
  }

  /**
   * Whether names should wait for the first table: without it, a gateway would take rights away
   * after each start. They wait 10 s at most, and not for a right that is missing.
   */
  get isAwaited(): boolean {
    const isForbidden = this.mirrors.some(({ reflector }) => reflector.isForbidden)
    if (this.current !== undefined || isForbidden) return false
    return this.options.elapsed() - this.startMs < AWAITED_MS
  }

  /** Returns the state of each kind, for metrics. */
  states(): readonly CollectionState[] {
    return this.mirrors.map(({ kind, resource, reflector }) => {
      const { listCount: lists, isConnected, isAvailable } = reflector
      const count = this.objects.count(kind)
      return { resource, count, invalid: 0, lists, missed: 0, isConnected, isAvailable }
    })
  }

  /** Follows the objects until `signal` ends it. Never throws because of the API server. */
  async run(signal: AbortSignal): Promise<void> {
    const running = this.mirrors.map(({ reflector }) => reflector.run(signal))
    await Promise.all([...running, this.loop.run(signal)])
  }

  private async compute(signal: AbortSignal): Promise<void> {
    if (!this.objects.isChanged) return
    if (!this.mirrors.every(({ reflector }) => reflector.hasSynced && reflector.isConnected)) {
      // Roles of today with bindings of before could allow what never was allowed.
      await this.options.sleep(AGAIN_MS, signal)
      if (!signal.aborted) this.loop.mark()
      return
    }
    const { elapsed, onChange } = this.options
    let waitedMs = 0
    const nextTurn = async (): Promise<void> => {
      const startMs = elapsed()
      await setImmediate()
      waitedMs += elapsed() - startMs
    }
    const startMs = elapsed()
    this.objects.isChanged = false
    const table = await inSlices(this.write(), { elapsed, nextTurn }, () => signal.aborted)
    this.busyMs = elapsed() - startMs - waitedMs
    if (this.current !== undefined && Buffer.compare(this.current, table) === 0) return
    this.current = table
    onChange()
  }

  private *write(): Steps<Uint8Array> {
    const rights = yield* serviceReaders(this.objects.effectiveBindings())
    let count = Math.min(rights.length, Math.floor(RIGHTS_BYTES_MAX / ROW_BYTES))
    for (;;) {
      const some = yield* firstRights(rights, count)
      try {
        const table = yield* writeRights(some, sha256)
        this.report(rights.length - some.length)
        return table
      } catch (error) {
        if (!(error instanceof RightsError)) throw error
        count = Math.floor(count * FEWER)
      }
    }
  }

  private report(left: number): void {
    if (left > 0 && this.left === 0) {
      const most = `${RIGHTS_BYTES_MAX / 1024} KiB`
      this.options.onWarning(
        `${left} users and groups do not fit into ${most} of rights: they see nothing`,
      )
    }
    this.left = left
  }
}

function sha256(text: string): Uint8Array {
  return hash('sha256', text, 'buffer')
}
