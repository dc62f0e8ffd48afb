/**
 * Follows the ClientTokens of a cluster: sends all of them to the gateway when one changes, and
 * every minute, and writes what became of each into its status. What the gateway got last counts
 * while the exporter is away.
 * @module
 */
import { Backoff, type Timing } from '../cluster/api/backoff.ts'
import { identify } from '../cluster/api/mirrored-objects.ts'
import { ApiError, type ObjectApi } from '../cluster/api/object-api.ts'
import type { Intake } from '../cluster/api/object-intake.ts'
import { Reflector } from '../cluster/api/reflector.ts'
import { ChangeLoop } from '../cluster/follow/change-loop.ts'
import { type ClientToken, parseClientToken } from '../cluster/objects/parse-client-token.ts'
import {
  CLIENT_TOKENS_BYTES_MAX,
  formatSentTokens,
  type SentToken,
  type TokenOutcome,
  type TokenRefusal,
} from '../snapshot/format/client-tokens.ts'
import { judgeTokens, type TokenVerdict } from './client-token-rules.ts'
import { ClientTokenSecrets } from './client-token-secrets.ts'
import { CLIENT_TOKENS_PATH, ClientTokenStatuses, type TokenReport } from './client-token-status.ts'
import { GatewayError } from './gateway-client.ts'

/** Most objects of a namespace in memory; others have no status. */
const NAMESPACE_HELD_MAX = 1000
/** How often Secrets are read again that had no text. */
const RECHECK_MS = 10_000
/**
 * How often all Secrets are read again and the list is sent without a change, for the days of use:
 * each sixth time, a minute.
 */
const RECHECKS = 6
/** Age from which on a list is sent again. */
const SENT_FRESH_MS = 55_000
/** A chart brings several objects and Secrets at once. */
const GATHER_MS = 50
const INTERVAL_MS = 200
/** Parallel requests for Secrets. */
const READS_MAX = 4
/** Statuses of a gateway that takes none, or does not know the route. */
const REFUSED: ReadonlySet<number | undefined> = new Set([403, 404])

/** Reasons that end with another Secret. */
const WAITING: ReadonlySet<string> = new Set(['SecretNotFound', 'SecretForbidden', 'InvalidToken'])

/** What following needs. */
export type ClientTokensOptions = Timing & {
  readonly api: ObjectApi
  /** Namespace whose objects may give the names of any namespace. */
  readonly home: string
  /** Sends the whole list. @throws {GatewayError} */
  readonly send: (
    tokens: readonly SentToken[],
    signal: AbortSignal,
  ) => Promise<readonly TokenOutcome[]>
  /** Returns whether to send the list; a follower only keeps the objects. */
  readonly isLeader: () => boolean
  /**
   * Returns whether to write statuses, of which other processes only write later days of use: of
   * several gateways that each follow the objects, one. Default: as `isLeader`.
   */
  readonly isElected?: () => boolean
  readonly onWarning: (message: string) => void
  readonly onError: (message: string) => void
}

/** An object whose token is known, or why it has none. */
type Known = TokenVerdict & { readonly sent?: SentToken; readonly reason?: TokenRefusal }

type Outcomes = ReadonlyMap<string, TokenOutcome> | TokenRefusal
type Sent = { readonly text: string; readonly outcomes: Outcomes; readonly sentMs: number }

/** The ClientTokens of one cluster. */
export class ClientTokens {
  private readonly options: ClientTokensOptions
  private readonly held = new Map<string, ClientToken>()
  private readonly reflector: Reflector
  private readonly loop: ChangeLoop
  private readonly secrets: ClientTokenSecrets
  private readonly statuses: ClientTokenStatuses
  private readonly backoff: Backoff
  private failure = ''
  /** The list that the gateway got last: each status that is written changes an object. */
  private last: Sent | undefined
  /** Whether an object waits for its Secret. */
  private isWaiting = false
  private readonly firstSent = Promise.withResolvers<void>()
  /** Resolves when the gateway has had the list once. */
  readonly sent: Promise<void> = this.firstSent.promise

  constructor(options: ClientTokensOptions) {
    this.options = options
    const { api, onError, sleep, elapsed, now, random } = options
    this.secrets = new ClientTokenSecrets(api, elapsed)
    this.statuses = new ClientTokenStatuses({ api, now, onError })
    this.backoff = new Backoff(random)
    this.reflector = new Reflector({
      ...options,
      collection: { resource: 'clienttokens', path: CLIENT_TOKENS_PATH },
      intake: intakeOf(this.held, options.onWarning),
      onChange: () => this.loop.mark(),
      onClose: () => undefined,
    })
    const work = (signal: AbortSignal): Promise<void> => this.sendOrRetry(signal)
    const times = { gatherMs: GATHER_MS, intervalMs: INTERVAL_MS }
    this.loop = new ChangeLoop({ work, ...times, sleep, elapsed })
  }

  /** Notes that the exporter was elected: the gateway may have the list of another one. */
  elected(): void {
    this.last = undefined
    this.loop.mark()
  }

  /** Runs until `signal` ends it. Never throws because of the API server or the gateway. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.reflector.run(signal), this.loop.run(signal), this.remind(signal)])
  }

  private async remind(signal: AbortSignal): Promise<void> {
    for (let tick = 1; !signal.aborted; tick++) {
      await this.options.sleep(RECHECK_MS, signal)
      const isDue = this.isWaiting || tick % RECHECKS === 0
      if (isDue && !signal.aborted) this.loop.mark()
    }
  }

  private async sendOrRetry(signal: AbortSignal): Promise<void> {
    // Before the first complete list, the objects that it lacks would seem deleted.
    if (signal.aborted || !this.reflector.hasSynced || !this.options.isLeader()) return
    try {
      await this.sendAll(signal)
      this.backoff.reset()
      this.failure = ''
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof ApiError)) throw error
      this.last = undefined
      if (signal.aborted) return
      this.report(error.message)
      await this.options.sleep(this.backoff.next(), signal)
      this.loop.mark()
    }
  }

  private async sendAll(signal: AbortSignal): Promise<void> {
    const { home, now, isLeader } = this.options
    const verdicts = judgeTokens(this.held.values(), { home, nowMs: now() })
    const known = boundBytes(await this.readAll(verdicts, signal))
    this.secrets.sweep()
    this.isWaiting = known.some(({ reason }) => reason !== undefined && WAITING.has(reason.reason))
    if (!isLeader() || signal.aborted) return
    const outcomes = await this.sendList(
      known.flatMap(({ sent }) => sent ?? []),
      signal,
    )
    this.firstSent.resolve()
    const { isElected = isLeader } = this.options
    const reports = known.map((one) => reportOf(one, outcomes))
    await this.statuses.write(isElected() ? reports : reports.filter(isUsedLater), signal)
  }

  /** Sends a list, unless the gateway got the same one just now. */
  private async sendList(sent: readonly SentToken[], signal: AbortSignal): Promise<Outcomes> {
    const { send, elapsed } = this.options
    const text = formatSentTokens(sent)
    const { last } = this
    if (last?.text === text && elapsed() - last.sentMs < SENT_FRESH_MS) return last.outcomes
    const outcomes = await send(sent, signal).then(byUid, (error: unknown) => this.refused(error))
    this.last = { text, outcomes, sentMs: elapsed() }
    return outcomes
  }

  /** Reads the Secrets of all objects that count. @throws {ApiError} while one cannot be read */
  private async readAll(
    verdicts: readonly TokenVerdict[],
    signal: AbortSignal,
  ): Promise<readonly Known[]> {
    const known: Known[] = []
    const waiting = verdicts.entries()
    const readNext = async (): Promise<void> => {
      for (const [i, verdict] of waiting) known[i] = await this.read(verdict, signal)
    }
    await Promise.all(Array.from({ length: READS_MAX }, readNext))
    return known
  }

  private async read(verdict: TokenVerdict, signal: AbortSignal): Promise<Known> {
    if ('refusal' in verdict) return { ...verdict, reason: verdict.refusal }
    const { object, spec, scope } = verdict
    const { uid, namespace, name } = object
    const about = { uid, name: `${namespace}/${name}`, expiresMs: spec.expiresMs ?? null }
    if ('subject' in spec) {
      // Tenants name ServiceAccounts of this cluster; others may call their issuer alike.
      const keys = namespace === this.options.home ? 'any' : 'cluster'
      return { ...verdict, sent: { ...about, subject: { ...spec.subject, keys }, ...scope } }
    }
    const hash = await this.secrets.hashOf(object, spec.secret, signal)
    if ('refusal' in hash) return { ...verdict, reason: hash.refusal }
    return { ...verdict, sent: { ...about, ...hash, ...scope } }
  }

  /** Returns why the gateway takes no tokens. @throws what else went wrong */
  private refused(error: unknown): TokenRefusal {
    if (!(error instanceof GatewayError) || !REFUSED.has(error.status)) throw error
    this.report(error.message)
    return { reason: 'GatewayRefused', message: error.message }
  }

  private report(message: string): void {
    if (message === this.failure) return
    this.failure = message
    this.options.onError(`cannot send the ClientTokens: ${message}`)
  }
}

function byUid(outcomes: readonly TokenOutcome[]): ReadonlyMap<string, TokenOutcome> {
  return new Map(outcomes.map((one) => [one.uid, one]))
}

/** Leaves out the youngest objects of a list that has too many bytes. */
function boundBytes(known: readonly Known[]): readonly Known[] {
  let bytes = formatSentTokens([]).length
  return known.map((one) => {
    if (one.sent === undefined) return one
    // All texts are ASCII; a comma is between two.
    bytes += JSON.stringify(one.sent).length + 1
    if (bytes <= CLIENT_TOKENS_BYTES_MAX) return one
    const message = `the ClientTokens of the cluster have over ${CLIENT_TOKENS_BYTES_MAX} bytes`
    const { sent: _, ...rest } = one
    return { ...rest, reason: { reason: 'TooMany', message } }
  })
}

function reportOf(one: Known, outcomes: Outcomes): TokenReport {
  const { object } = one
  const scope = 'scope' in one ? one.scope : undefined
  const none = { object, scope, identifier: '', lastUsed: '' }
  if (one.sent === undefined) return { ...none, refusal: one.reason }
  if (!('get' in outcomes)) return { ...none, refusal: outcomes }
  const outcome = outcomes.get(object.uid)
  if (outcome === undefined) {
    const message = 'the gateway says nothing of it'
    return { ...none, refusal: { reason: 'GatewayRefused', message } }
  }
  const { id: identifier, lastUsed, refusal } = outcome
  if (refusal !== null) return { ...none, refusal }
  // This gateway may be one of several, or have forgotten the days with its last process.
  const before = object.status.identifier === identifier ? object.status.lastUsed : ''
  const latest = lastUsed !== null && before < lastUsed ? lastUsed : before
  return { object, scope, identifier, lastUsed: latest, refusal: undefined }
}

/** Returns whether a token was used at this gateway after the day in the status of its object. */
function isUsedLater({ object, identifier, lastUsed }: TokenReport): boolean {
  return object.status.identifier === identifier && object.status.lastUsed < lastUsed
}

/** Returns an intake that keeps parsed objects by namespace and name. */
function intakeOf(held: Map<string, ClientToken>, onWarning: (message: string) => void): Intake {
  let listed = new Set<string>()
  const full = new Set<string>()
  const counts = new Map<string, number>()
  const remove = (key: string): void => {
    const known = held.get(key)
    if (known === undefined) return
    held.delete(key)
    counts.set(known.namespace, (counts.get(known.namespace) ?? 1) - 1)
  }
  const keep = (key: string, object: ClientToken): void => {
    const { namespace } = object
    const count = counts.get(namespace) ?? 0
    if (held.has(key)) held.set(key, object)
    else if (count < NAMESPACE_HELD_MAX) {
      counts.set(namespace, count + 1)
      held.set(key, object)
    } else if (!full.has(namespace)) {
      full.add(namespace)
      onWarning(`namespace ${namespace} has over ${NAMESPACE_HELD_MAX} ClientTokens`)
    }
  }
  return {
    startList: () => {
      listed = new Set()
    },
    endList: () => {
      for (const key of [...held.keys()]) if (!listed.has(key)) remove(key)
    },
    take: (item) => {
      const { key } = identify(item)
      listed.add(key)
      const object = parseClientToken(item)
      if (object === undefined) remove(key)
      else keep(key, object)
      return undefined
    },
    drop: (item) => remove(identify(item).key),
    settled: () => undefined,
    stop: () => undefined,
  }
}
